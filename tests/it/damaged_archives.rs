//! Every bit of every form of archive, flipped one after the other: rejected in one line, or read as what was written.

use crate::arrays::{Arrays, npy, packed};
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
use std::io::{Cursor, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

/// Changes one byte of a file in place: writing all of it again is slow on some file systems.
fn put(path: &Path, place: usize, byte: u8) {
    let mut file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start(place as u64)).unwrap();
    file.write_all(&[byte]).unwrap();
}

/// Flips bits of an archive, stored and compressed, and holds what is read against what was written.
fn flipped(arrays: &Arrays<'_>, read: impl Fn(&Path, Vec<u8>) -> Result<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f.npz");
    for compressed in [false, true] {
        let good = packed(compressed, arrays);
        fs::write(&path, &good).unwrap();
        let expected = read(&path, good.clone()).unwrap_or_else(|error| panic!("{error}"));
        let mut rejected = 0;
        // Seven is prime to the bits of a byte: all of them come up.
        let bits: Vec<usize> = (0..8 * good.len()).step_by(7).collect();
        for &bit in &bits {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            put(&path, bit / 8, bytes[bit / 8]);
            let found = read(&path, bytes);
            put(&path, bit / 8, good[bit / 8]);
            match found {
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

fn votes<T: Debug>(arrays: &Arrays<'_>, read: impl Fn(&mut VoteFile) -> Result<T>) {
    flipped(arrays, |path, bytes| {
        let file = VoteFile::open(path).and_then(|mut file| read(&mut file));
        both(file, votes_from_bytes(path, bytes).and_then(|mut file| read(&mut file)))
    });
}

#[test]
fn votes_of_teachers() {
    let arrays: &Arrays<'_> = &[
        ("pate_votes", &Array3::<u8>::from_shape_fn((2, 3, 4), |(i, q, t)| ((i + q * t) % 3) as u8)),
        ("adv_query", &array![2i64, 0]),
        ("pate_nat_advq", &array![[0u16, 1], [2, 2]]),
        ("query_label", &array![0u8, 1, 2]),
    ];
    votes(arrays, |file| Ok((file.pate(Adversary::NatAdvq)?, file.histograms(1)?)));
}

#[test]
fn votes_of_parties_and_prompts() {
    let capc: &Arrays<'_> = &[
        ("capc_votes", &array![[[0u8, 1], [2, 2]], [[1, 1], [0, 2]]]),
        ("capc_pois_natq", &array![[1u8, 1, 0], [2, 2, 2]]),
    ];
    votes(capc, |file| file.capc(Adversary::PoisNatq));
    let prompts: &Arrays<'_> =
        &[("histogram", &array![[3i64, 1], [2, 2]]), ("histogram_prime", &array![[2i64, 2], [2, 2]])];
    votes(prompts, |file| file.prompt_pate());
}

#[test]
fn neighbors_of_queries() {
    let arrays: &Arrays<'_> = &[
        ("neighbour_labels", &array![[0u8, 1, 1], [2, 2, 0]]),
        ("query_features", &array![[0.5f32, 1.0], [2.0, -1.0]]),
        ("candidate_rank", &array![[1u32, 7]]),
        ("candidate_label", &array![4u8]),
        ("candidate_is_test", &array![true]),
        ("features", &array![[1.0f64, 2.0]]),
        ("labels", &array![1u8]),
    ];
    votes(arrays, |file| Ok((file.private_knn()?, file.private_knn_training()?)));
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
    let logits = Array4::from_shape_fn((4, 3, 1, 3), |(m, s, _, c)| (m * 9 + s * 3 + c) as f32);
    let logits: &Arrays<'_> = &[("logits", &logits), ("keep", &keep), ("labels", &array![2i64, 0, 1])];
    flipped(logits, read);
    let scores: &Arrays<'_> = &[
        ("scores", &Array2::from_shape_fn((4, 3), |(m, s)| (m * 3 + s) as f64)),
        ("keep", &keep.mapv(u8::from)),
        ("labels", &array![2u8, 0, 1]),
    ];
    flipped(scores, read);
    let embeddings = Array4::from_shape_fn((4, 3, 2, 2), |(m, s, v, d)| (m * 12 + s * 4 + v * 2 + d) as f32 + 1.0);
    let embeddings: &Arrays<'_> = &[("embeddings", &embeddings), ("keep", &keep)];
    flipped(embeddings, read);
}

#[test]
fn labels_properties_and_images() {
    let memory = MemoryBudget::of_machine();
    let labels: &Arrays<'_> = &[
        ("probabilities", &array![[0.5f32, 0.25, 0.25], [0.125, 0.5, 0.375]]),
        ("labels_true", &array![0u8, 1]),
        ("labels_trained", &array![1u8, 2]),
    ];
    flipped(labels, |path, _| Ok(format!("{:?}", read_label_canaries(path, memory)?.0)));
    let property: &Arrays<'_> =
        &[("student", &array![[0.5f32, 0.5], [0.25, 0.75]]), ("ensembles", &Array4::from_elem((2, 1, 2, 2), 0.5f64))];
    flipped(property, |path, _| Ok(format!("{:?}", read_property_answers(path, memory)?.0)));
    let images: &Arrays<'_> = &[
        ("x_train", &Array3::<u8>::from_shape_fn((2, 3, 3), |(n, r, c)| (n + r * c) as u8)),
        ("y_train", &array![1u8, 0]),
    ];
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
                        write the archive again with numpy.savez_compressed";
        let errors: [Error; 2] = [
            ArrayFile::from_bytes("t.npz", bytes.clone()).unwrap_err(),
            shadow_models_from_bytes("t.npz", bytes).unwrap_err(),
        ];
        assert_eq!(errors.map(|error| error.to_string()), [expected, expected]);
    }
}

/// The bytes of the pages of a Parquet table, without their headers: what a checksum covers.
///
/// Pages follow each other from the fourth byte to the description of the table, whose length stands before the last four
/// bytes. A header is a structure in Thrift's compact protocol; its field 3 is the size of the page.
fn pages(bytes: &[u8]) -> Vec<Range<usize>> {
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap()) as usize;
    let (mut at, mut pages) = (4, Vec::new());
    while at < bytes.len() - 8 - footer {
        let size = structure(bytes, &mut at).into_iter().find(|field| field.0 == 3).unwrap().1 as usize;
        pages.push(at..at + size);
        at += size;
    }
    pages
}

/// Reads a structure: the whole numbers among its fields, by their ids.
fn structure(bytes: &[u8], at: &mut usize) -> Vec<(u64, i64)> {
    let (mut id, mut numbers) = (0, Vec::new());
    loop {
        let head = bytes[*at];
        *at += 1;
        if head == 0 {
            return numbers;
        }
        id = if head >> 4 == 0 { signed(bytes, at) as u64 } else { id + u64::from(head >> 4) };
        match head & 15 {
            // Booleans are in the head.
            1 | 2 => {}
            4..=6 => numbers.push((id, signed(bytes, at))),
            8 => *at += unsigned(bytes, at) as usize,
            12 => drop(structure(bytes, at)),
            kind => panic!("a field of kind {kind}"),
        }
    }
}

fn unsigned(bytes: &[u8], at: &mut usize) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let byte = bytes[*at];
        *at += 1;
        value |= u64::from(byte & 127) << shift;
        if byte < 128 {
            break;
        }
    }
    value
}

fn signed(bytes: &[u8], at: &mut usize) -> i64 {
    let value = unsigned(bytes, at);
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// Bits of tables: what is rejected is rejected in one line, panics of the decoder included. Where pages have checksums
/// every flipped bit of a page that is read is found by them; without them it may be another number. The format has none for the headers
/// of pages and for the description of the table.
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
        let reads = || {
            read(&path).inspect_err(|error| {
                let text = error.to_string();
                assert!(text.contains("f.parquet") && !text.contains(char::is_control), "{text:?}");
            })
        };
        fs::write(&path, &good).unwrap();
        let whole = reads().unwrap();
        let bits = || (0..8 * good.len()).step_by(step);
        let pages = if summed { pages(&good) } else { Vec::new() };
        let in_page = |bit: usize| !summed || pages.iter().any(|page| page.contains(&(bit / 8)));
        let [mut rejected, mut other, mut mismatches] = [[0; 2]; 3];
        let (all, in_pages) = (bits().count(), bits().filter(|&bit| in_page(bit)).count());
        for bit in bits() {
            put(&path, bit / 8, good[bit / 8] ^ 1 << (bit % 8));
            let found = reads();
            put(&path, bit / 8, good[bit / 8]);
            let inside = usize::from(in_page(bit));
            match found {
                Ok(found) => other[inside] += usize::from(found != whole),
                Err(error) => {
                    rejected[inside] += 1;
                    let of_page = error.to_string().contains("found a page that does not match its checksum");
                    let placed = error.to_string().starts_with(&format!("{}: row group ", path.display()));
                    assert!(!of_page || placed, "{error}");
                    mismatches[inside] += usize::from(of_page);
                }
            }
        }
        let found = format!(
            "{name}: of {all} bits, {in_pages} in pages; outside and in pages {rejected:?} are rejected, {mismatches:?} by \
             checksums, and {other:?} are other numbers"
        );
        println!("{found}");
        assert!(4 * (rejected[0] + rejected[1]) > all, "{found}");
        // Pages of columns that are not read are not looked at either.
        if summed {
            assert!(other[1] == 0 && rejected[1] == mismatches[1] && 2 * rejected[1] > in_pages, "{found}");
        } else {
            assert!(other[1] > 0 && mismatches == [0, 0], "{found}");
        }
        let cut = |length: u64| fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
        for length in (0..good.len() as u64).rev().step_by(61) {
            cut(length);
            assert!(reads().is_err(), "{name}: {length}");
        }
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
