//! Every bit of every form of archive, flipped one after the other: rejected in one line, or read as what was written.

use crate::arrays::{Writer, npy, packed};
use crate::desk::Desk;
use leakbound::membership::{ShadowEmbeddings, ShadowLogits, ShadowScores, TextPart, TextSequences};
use leakbound::model::Adversary;
use leakbound::record::{
    ArrayFile, ImagePart, MemoryBudget, ShadowRecording, VoteFile, is_panic_expected, read_images, read_label_canaries,
    read_property_answers, read_shadow_models, read_text_sequences, read_tokens, shadow_models_from_bytes,
    votes_from_bytes,
};
use leakbound::{Error, Result};
use ndarray::{Array2, Array3, Array4, array};
use std::fmt::Debug;
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

/// Flips bits of an archive, stored and compressed, and holds what is read against what was written.
fn flipped(add: impl Fn(&mut Writer), read: impl Fn(&Path, Vec<u8>) -> Result<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.npz");
    for compressed in [false, true] {
        let good = packed(compressed, &add);
        fs::write(&path, &good).unwrap();
        let expected = read(&path, good.clone()).unwrap_or_else(|error| panic!("{error}"));
        let mut rejected = 0;
        // Seven is prime to the bits of a byte: all of them come up.
        let bits: Vec<usize> = (0..8 * good.len()).step_by(7).collect();
        for &bit in &bits {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            fs::write(&path, &bytes).unwrap();
            match read(&path, bytes) {
                Ok(found) => assert_eq!(found, expected, "bit {bit} of {}, compressed: {compressed}", good.len()),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("f.npz") && !text.contains(char::is_control), "{text:?}");
                    rejected += 1;
                }
            }
        }
        // Dates, versions and attributes may be anything; the data and their names may not.
        assert!(2 * rejected > bits.len(), "{rejected} of {}", bits.len());
    }
}

/// What a reader of files and a reader of memory say; they must agree.
fn both<T: Debug>(first: Result<T>, second: Result<T>) -> Result<String> {
    match (first, second) {
        (Ok(first), Ok(second)) => {
            let text = format!("{first:?}");
            assert_eq!(text, format!("{second:?}"));
            Ok(text)
        }
        (Err(error), Err(_)) => Err(error),
        (first, second) => panic!("{first:?} from a file and {second:?} from memory"),
    }
}

fn votes<T: Debug>(add: impl Fn(&mut Writer), read: impl Fn(&mut VoteFile) -> Result<T>) {
    flipped(add, |path, bytes| {
        let file = VoteFile::open(path).and_then(|mut file| read(&mut file));
        both(file, votes_from_bytes(path, bytes).and_then(|mut file| read(&mut file)))
    });
}

#[test]
fn votes_of_teachers() {
    let add = |writer: &mut Writer| {
        writer
            .add_array("pate_votes", &Array3::<u8>::from_shape_fn((2, 3, 4), |(i, q, t)| ((i + q * t) % 3) as u8))
            .unwrap();
        writer.add_array("adv_query", &array![2i64, 0]).unwrap();
        writer.add_array("pate_nat_advq", &array![[0u16, 1], [2, 2]]).unwrap();
        writer.add_array("query_label", &array![0u8, 1, 2]).unwrap();
    };
    votes(add, |file| Ok((file.pate(Adversary::NatAdvq)?, file.histograms(1)?)));
}

#[test]
fn votes_of_parties_and_prompts() {
    let capc = |writer: &mut Writer| {
        writer.add_array("capc_votes", &array![[[0u8, 1], [2, 2]], [[1, 1], [0, 2]]]).unwrap();
        writer.add_array("capc_pois_natq", &array![[1u8, 1, 0], [2, 2, 2]]).unwrap();
    };
    votes(capc, |file| file.capc(Adversary::PoisNatq));
    let prompts = |writer: &mut Writer| {
        writer.add_array("histogram", &array![[3i64, 1], [2, 2]]).unwrap();
        writer.add_array("histogram_prime", &array![[2i64, 2], [2, 2]]).unwrap();
    };
    votes(prompts, |file| file.prompt_pate());
}

#[test]
fn neighbors_of_queries() {
    let add = |writer: &mut Writer| {
        writer.add_array("neighbour_labels", &array![[0u8, 1, 1], [2, 2, 0]]).unwrap();
        writer.add_array("query_features", &array![[0.5f32, 1.0], [2.0, -1.0]]).unwrap();
        writer.add_array("candidate_rank", &array![[1u32, 7]]).unwrap();
        writer.add_array("candidate_label", &array![4u8]).unwrap();
        writer.add_array("candidate_is_test", &array![true]).unwrap();
        writer.add_array("features", &array![[1.0f64, 2.0]]).unwrap();
        writer.add_array("labels", &array![1u8]).unwrap();
    };
    votes(add, |file| Ok((file.private_knn()?, file.private_knn_training()?)));
}

/// Everything that an attack can see of a recording.
fn seen(recording: ShadowRecording) -> Result<String> {
    let samples = recording.members().ncols();
    let (members, labels) = (format!("{:?}", recording.members()), format!("{:?}", recording.labels()));
    let answers = match &recording {
        ShadowRecording::Logits(logits) => format!("{:?}", logits.logits(0..samples)?),
        ShadowRecording::Scores(scores) => format!("{:?}", scores.block(0..samples)?),
        ShadowRecording::Embeddings(_) => String::new(),
    };
    let embeddings = match recording.embeddings() {
        Some(embeddings) => format!("{:?}", embeddings.embeddings(0..samples)?),
        None => String::new(),
    };
    recording.inputs()?;
    Ok(format!("{members} {labels} {answers} {embeddings}"))
}

#[test]
fn answers_of_shadow_models() {
    let keep = Array2::from_shape_fn((4, 3), |(m, s)| (m + s) % 2 == 0);
    let read = |path: &Path, bytes: Vec<u8>| {
        let file = read_shadow_models(&[path.into()], MemoryBudget::of_machine()).and_then(seen);
        both(file, shadow_models_from_bytes(path, bytes).and_then(seen))
    };
    let logits = |writer: &mut Writer| {
        let logits = Array4::from_shape_fn((4, 3, 1, 3), |(m, s, _, c)| (m * 9 + s * 3 + c) as f32);
        writer.add_array("logits", &logits).unwrap();
        writer.add_array("keep", &keep).unwrap();
        writer.add_array("labels", &array![2i64, 0, 1]).unwrap();
    };
    flipped(logits, read);
    let scores = |writer: &mut Writer| {
        writer.add_array("scores", &Array2::from_shape_fn((4, 3), |(m, s)| (m * 3 + s) as f64)).unwrap();
        writer.add_array("keep", &keep.mapv(u8::from)).unwrap();
        writer.add_array("labels", &array![2u8, 0, 1]).unwrap();
    };
    flipped(scores, read);
    let embeddings = |writer: &mut Writer| {
        let embeddings = Array4::from_shape_fn((4, 3, 2, 2), |(m, s, v, d)| (m * 12 + s * 4 + v * 2 + d) as f32 + 1.0);
        writer.add_array("embeddings", &embeddings).unwrap();
        writer.add_array("keep", &keep).unwrap();
    };
    flipped(embeddings, read);
}

#[test]
fn labels_properties_and_images() {
    let memory = MemoryBudget::of_machine();
    let labels = |writer: &mut Writer| {
        writer.add_array("probabilities", &array![[0.5f32, 0.25, 0.25], [0.125, 0.5, 0.375]]).unwrap();
        writer.add_array("labels_true", &array![0u8, 1]).unwrap();
        writer.add_array("labels_trained", &array![1u8, 2]).unwrap();
    };
    flipped(labels, |path, _| Ok(format!("{:?}", read_label_canaries(path, memory)?.0)));
    let property = |writer: &mut Writer| {
        writer.add_array("student", &array![[0.5f32, 0.5], [0.25, 0.75]]).unwrap();
        writer.add_array("ensembles", &Array4::from_elem((2, 1, 2, 2), 0.5f64)).unwrap();
    };
    flipped(property, |path, _| Ok(format!("{:?}", read_property_answers(path, memory)?.0)));
    let images = |writer: &mut Writer| {
        writer.add_array("x_train", &Array3::<u8>::from_shape_fn((2, 3, 3), |(n, r, c)| (n + r * c) as u8)).unwrap();
        writer.add_array("y_train", &array![1u8, 0]).unwrap();
    };
    flipped(images, |path, _| Ok(format!("{:?}", read_images(path, ImagePart::Train, memory)?.0)));
}

/// An archive of two entries, renamed to one name where they are named.
fn twice(compression: zip::CompressionMethod) -> Vec<u8> {
    let array = npy(&array![[1u8, 2]]);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for name in ["votes.npy", "vote2.npy"] {
        let options = zip::write::SimpleFileOptions::default().compression_method(compression);
        writer.start_file(name, options).unwrap();
        writer.write_all(&array).unwrap();
    }
    let mut bytes = writer.finish().unwrap().into_inner();
    for at in 0..bytes.len() - 5 {
        if bytes[at..].starts_with(b"vote2") {
            bytes[at + 4] = b's';
        }
    }
    bytes
}

#[test]
fn an_array_comes_once() {
    for compression in [zip::CompressionMethod::Stored, zip::CompressionMethod::Deflated] {
        let bytes = twice(compression);
        let expected = "t.npz: whole file: found the entry `votes.npy` a second time, expected each array once; hint: \
                        write the archive anew with numpy.savez_compressed";
        let errors: [Error; 2] = [
            ArrayFile::from_bytes("t.npz", bytes.clone()).unwrap_err(),
            shadow_models_from_bytes("t.npz", bytes).unwrap_err(),
        ];
        assert_eq!(errors.map(|error| error.to_string()), [expected, expected]);
    }
}

/// Bits of tables: what is rejected is rejected in one line, panics of the decoder included. Where pages have checksums no
/// damaged number is read; without them it may be another number. Headers and the description of the table have none.
#[test]
fn tables() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !is_panic_expected() {
            print(panic);
        }
    }));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.parquet");
    let room = || MemoryBudget::of_bytes(64 << 20);
    let tokens = |path: &Path| {
        let recording = read_tokens(path, room())?;
        let all = (0..recording.positions()).map(|index| recording.position(index));
        Ok(format!("{:?}", all.collect::<Result<Vec<_>>>()?))
    };
    let texts = |path: &Path| {
        let texts = read_text_sequences(path, room())?;
        let parts = TextPart::ALL.into_iter().filter(|part| texts.has(*part));
        let all = parts.map(|part| texts.read(part, 0..texts.members().len())).collect::<Result<Vec<_>>>()?;
        Ok(format!("{all:?} {:?}", texts.members()))
    };
    type Read<'a> = &'a dyn Fn(&Path) -> Result<String>;
    let cases: [(&str, usize, bool, Read<'_>); 4] = [
        ("next_tokens.parquet", 7, true, &tokens),
        ("transcripts.parquet", 41, true, &tokens),
        ("text_tokens.parquet", 101, true, &texts),
        ("text_tokens_polars.parquet", 101, false, &texts),
    ];
    for (name, step, summed, read) in cases {
        let good = fs::read(Desk::root().path(&format!("validation/data/{name}"))).unwrap();
        let reads = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            read(&path).inspect_err(|error| {
                let text = error.to_string();
                assert!(text.contains("f.parquet") && !text.contains(char::is_control), "{text:?}");
            })
        };
        let whole = reads(&good).unwrap();
        let bits: Vec<usize> = (0..8 * good.len()).step_by(step).collect();
        let (mut rejected, mut other, mut mismatches) = (0, 0, 0);
        for &bit in &bits {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            match reads(&bytes) {
                Ok(found) => other += usize::from(found != whole),
                Err(error) => {
                    rejected += 1;
                    let of_page = error.to_string().contains("found a page that does not match its checksum");
                    let placed = error.to_string().starts_with(&format!("{}: row group ", path.display()));
                    assert!(!of_page || placed, "{error}");
                    mismatches += usize::from(of_page);
                }
            }
        }
        println!("{name}: {rejected} of {} rejected, {mismatches} by checksums; {other} are other numbers", bits.len());
        assert!(4 * rejected > bits.len(), "{name}: {rejected} of {}", bits.len());
        assert_eq!((summed, mismatches > rejected / 2), (other == 0, summed), "{name}");
        let cut: usize = (0..good.len()).step_by(61).map(|length| usize::from(reads(&good[..length]).is_ok())).sum();
        assert_eq!(cut, 0, "{name}");
    }
}

/// Tables that are whole and not read say so.
#[test]
fn tables_of_other_kinds() {
    let desk = Desk::root();
    let read = |name: &str| desk.rejected(1, &["membership", "text", &format!("validation/data/{name}.parquet")]);
    assert_eq!(
        read("brotli"),
        "validation/data/brotli.parquet: row group 1, column `log_probabilities`: found compression by BROTLI, expected none, \
         or Snappy, gzip, LZ4 or Zstandard; hint: write the table with another compression, such as zstd"
    );
    assert_eq!(
        read("encrypted"),
        "validation/data/encrypted.parquet: whole file: found an encrypted Parquet table, expected a table without \
         encryption; hint: decrypt it with the program that has its keys"
    );
}
