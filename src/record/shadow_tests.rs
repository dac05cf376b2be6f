//! Every way in which shadow models are recorded, and what is said about those that are not.

use super::budget::MemoryBudget;
use super::shadow_file::*;
use super::shadow_recording::*;
use super::test_arrays::{AnyArray, Named, archive};
use crate::membership::{ScoreBlock, ShadowEmbeddings, ShadowLogits, ShadowScores};
use ndarray::{Array1, Array2, Array3, Array4, array};
use ndarray_npy::WriteNpyExt;
use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// 4 models, 3 samples, 2 views, 3 classes.
fn logits() -> Array4<f32> {
    Array4::from_shape_fn((4, 3, 2, 3), |(m, s, v, c)| (m * 18 + s * 6 + v * 3 + c) as f32 / 4.0 - 5.0)
}

fn keep() -> Array2<bool> {
    array![[true, false, true], [false, true, false], [true, true, false], [false, false, true]]
}

fn labels() -> Array1<i64> {
    array![2, 0, 1]
}

/// An archive of logits, labels and truth, and what else there is.
fn whole(more: &Named<'_>, compressed: bool) -> Vec<u8> {
    let (logits, labels, keep) = (logits(), labels(), keep());
    let needed = [("logits", &logits as &dyn AnyArray), ("labels", &labels), ("keep", &keep)];
    archive(&[&needed[..], more].concat(), compressed)
}

/// Two models of an array, those of one of two parts.
fn two<T: Clone, D: ndarray::RemoveAxis>(part: usize, array: &ndarray::Array<T, D>) -> ndarray::Array<T, D> {
    array.slice_axis(ndarray::Axis(0), (2 * part..2 * part + 2).into()).to_owned()
}

/// The bytes of an array as numpy writes it.
fn npy(version: u8, descriptor: &str, fortran: bool, shape: &[usize], data: &[u8]) -> Vec<u8> {
    let shape: String = shape.iter().map(|length| format!("{length}, ")).collect();
    let order = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descriptor}', 'fortran_order': {order}, 'shape': ({shape}), }}\n");
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    match version {
        1 => bytes.extend((text.len() as u16).to_le_bytes()),
        _ => bytes.extend((text.len() as u32).to_le_bytes()),
    }
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn check(recording: &ShadowRecording) {
    let ShadowRecording::Logits(file) = recording else { panic!("logits expected") };
    assert_eq!((file.labels(), file.views(), file.classes()), (&[2, 0, 1][..], 2, 3));
    assert_eq!(file.members(), keep());
    let expected = logits().mapv(f64::from);
    for range in [0..3, 1..2, 2..3] {
        let found = file.logits(range.clone()).unwrap();
        assert_eq!(found, expected.slice_axis(ndarray::Axis(1), range.into()));
    }
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    File::create(&path).unwrap().write_all(bytes).unwrap();
    path
}

fn plain<T: ndarray_npy::WritableElement, D: ndarray::Dimension>(array: &ndarray::Array<T, D>) -> Vec<u8> {
    let mut bytes = Vec::new();
    array.write_npy(&mut bytes).unwrap();
    bytes
}

#[test]
fn archives_folders_and_patterns_hold_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for compressed in [false, true] {
        let bytes = whole(&[], compressed);
        check(&shadow_models_from_bytes("a.npz", bytes.clone()).unwrap());
        let path = put(folder.path(), &format!("a{}.npz", u8::from(compressed)), &bytes);
        let recording = read_shadow_models(&[path], MemoryBudget::of_machine()).unwrap();
        check(&recording);
        assert_eq!(recording.inputs().unwrap()[0].bytes, bytes.len() as u64);
    }
    for (name, bytes) in [("logits", plain(&logits())), ("labels", plain(&labels())), ("keep", plain(&keep()))] {
        put(folder.path(), &format!("plain/{name}.npy"), &bytes);
    }
    check(&read_shadow_models(&[at("plain")], MemoryBudget::of_machine()).unwrap());
    check(
        &read_shadow_arrays(
            &ShadowArrays {
                answers: at("plain/logits.npy"),
                logits: true,
                keep: at("plain/keep.npy"),
                labels: Some(at("plain/labels.npy")),
            },
            MemoryBudget::of_machine(),
        )
        .unwrap(),
    );
    // Two models each; the pattern finds them in the order of their names.
    for part in 0..2 {
        let arrays: &Named<'_> =
            &[("logits", &two(part, &logits())), ("labels", &labels()), ("keep", &two(part, &keep()))];
        let bytes = archive(arrays, true);
        put(folder.path(), &format!("part{part}.npz"), &bytes);
    }
    check(&read_shadow_models(&[at("part*.npz")], MemoryBudget::of_machine()).unwrap());
    check(&read_shadow_models(&[at("part0.npz"), at("part1.npz")], MemoryBudget::of_machine()).unwrap());
    let reversed = read_shadow_models(&[at("part1.npz"), at("part0.npz")], MemoryBudget::of_machine()).unwrap();
    assert_eq!(reversed.members().row(0), keep().row(2));
}

#[test]
fn experiment_folders_are_read_in_their_order() {
    let folder = tempfile::tempdir().unwrap();
    for model in 0..4 {
        // The tenth comes after the ninth, not after the first.
        let name = format!("experiment_{}_of_16", [1, 2, 9, 10][model]);
        let one = logits().index_axis(ndarray::Axis(0), model).to_owned();
        let shaped = one.clone().into_shape_with_order((3, 1, 2, 3)).unwrap();
        put(folder.path(), &format!("{name}/logits/0000000100.npy"), &plain(&shaped));
        put(folder.path(), &format!("{name}/logits/0000000020.npy"), &plain(&(shaped * 0.0)));
        let scores = one.index_axis(ndarray::Axis(2), 0).to_owned();
        put(folder.path(), &format!("{name}/scores/0000000100.npy"), &plain(&scores));
        put(folder.path(), &format!("{name}/keep.npy"), &plain(&keep().row(model).to_owned()));
    }
    let scores = read_shadow_models(&[folder.path().into()], MemoryBudget::of_machine()).unwrap();
    let ShadowRecording::Scores(scores) = scores else { panic!("without labels there are scores") };
    let ScoreBlock::Double(block) = scores.block(0..3).unwrap() else { panic!("several files are put together") };
    assert_eq!(block, logits().index_axis(ndarray::Axis(3), 0).mapv(f64::from));
    put(folder.path(), "y_train.npy", &plain(&array![2u8, 0, 1]));
    check(&read_shadow_models(&[folder.path().into()], MemoryBudget::of_machine()).unwrap());
    let missing = folder.path().join("experiment_2_of_16/keep.npy");
    fs::remove_file(&missing).unwrap();
    let error = read_shadow_models(&[folder.path().into()], MemoryBudget::of_machine()).unwrap_err().to_string();
    assert!(error.contains("keep.npy: cannot read"), "{error}");
}

#[test]
fn every_layout_of_numbers_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let scores = Array3::from_shape_fn((4, 3, 2), |(m, s, v)| (m * 6 + s * 2 + v) as f32 * 0.25 - 2.0);
    let order = |fortran: bool| -> Vec<f32> {
        if fortran { scores.t().iter().copied().collect() } else { scores.iter().copied().collect() }
    };
    for fortran in [false, true] {
        for big in [false, true] {
            for (version, kind) in [(1, "f4"), (2, "f8"), (3, "f2")] {
                let data: Vec<u8> = order(fortran)
                    .into_iter()
                    .flat_map(|x| {
                        let mut bytes = match kind {
                            "f4" => x.to_le_bytes().to_vec(),
                            "f8" => f64::from(x).to_le_bytes().to_vec(),
                            _ => half::f16::from_f32(x).to_le_bytes().to_vec(),
                        };
                        if big {
                            bytes.reverse();
                        }
                        bytes
                    })
                    .collect();
                let descriptor = format!("{}{kind}", if big { '>' } else { '<' });
                put(folder.path(), "scores.npy", &npy(version, &descriptor, fortran, &[4, 3, 2], &data));
                // Truth as bytes in Fortran order, labels as big-endian.
                let truth: Vec<u8> = keep().t().iter().map(|&member| u8::from(member)).collect();
                put(folder.path(), "keep.npy", &npy(1, "|u1", true, &[4, 3], &truth));
                put(folder.path(), "labels.npy", &npy(1, ">i2", false, &[3], &[0, 2, 0, 0, 1, 0]));
                let recording = read_shadow_models(&[folder.path().into()], MemoryBudget::of_machine()).unwrap();
                assert_eq!((recording.members(), recording.labels()), (keep().view(), Some(&[2, 0, 256][..])));
                let ShadowRecording::Scores(file) = recording else { panic!("scores expected") };
                for range in [0..3, 1..2] {
                    let expected = scores.slice_axis(ndarray::Axis(1), range.clone().into());
                    match file.block(range).unwrap() {
                        ScoreBlock::Single(found) => assert_eq!(found, expected),
                        ScoreBlock::Double(found) => assert_eq!(found, expected.mapv(f64::from)),
                    }
                }
            }
        }
    }
}

#[test]
fn tables_are_read_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let text = "sample,model,score,member,view\nx,a,1.5,1,0\ny,a,2,0,0\nx,b,-1,false,0\ny,b,1e-3,true,0\n\
                x,a,3,1,1\ny,a,4,0,1\nx,b,5,0,1\ny,b,6,1,1\n";
    let path = put(folder.path(), "t.csv", text.as_bytes());
    let ShadowRecording::Scores(file) = read_shadow_models(&[path], MemoryBudget::of_machine()).unwrap() else {
        panic!("scores expected")
    };
    assert_eq!(file.members(), array![[true, false], [false, true]]);
    let ScoreBlock::Double(found) = file.block(0..2).unwrap() else { panic!("doubles expected") };
    assert_eq!(found, array![[[1.5, 3.0], [2.0, 4.0]], [[-1.0, 5.0], [0.001, 6.0]]]);
    let message = |text: &str| {
        let path = put(folder.path(), "u.csv", text.as_bytes());
        let error = read_shadow_models(&[path], MemoryBudget::of_machine()).unwrap_err().to_string();
        error.replace(&format!("{}/", folder.path().display()), "")
    };
    insta::assert_snapshot!(
        [
            message("model,score,member\n"),
            message("model,sample,score,member\n"),
            message("model,sample,score,member\na,x,nan,1\n"),
            message("model,sample,score,member\na,x,1,2\n"),
            message("model,sample,score,member\na,x,1,1\na,x,1,1\n"),
            message("model,sample,score,member\na,x,1,1\nb,y,1,1\n"),
            message("model,sample,view,score,member\na,x,0,1,1\na,x,1,1,0\n"),
            message("model,sample,score,member\na,x,1,1\n"),
        ]
        .join("\n"),
        @r"
        u.csv: line 1: found columns `model`, `score`, `member`, expected the column `sample`
        u.csv: line 1: found a header without rows, expected at least 1 row
        u.csv: line 2, column score: found `nan`, expected a finite number
        u.csv: line 2, column member: found `2`, expected 0 or 1; hint: 1 where the model was trained on the sample
        u.csv: whole file: found model `a`, sample `x` a second time, expected each of them once
        u.csv: whole file: found no model `a`, sample `y`, expected a row for every model, sample and view
        u.csv: line 3, column member: found `0`, expected the same truth in every view of a sample under a model
        u.csv: array `score`: found a single model, expected at least 2 models: the others are what a victim is compared with; hint: of one model, audit the scores: that of each sample, and whether it was trained on it
        "
    );
}

/// The message about faulty arrays; `?` replaces the file.
fn message(arrays: &Named<'_>) -> String {
    fault_of(archive(arrays, true))
}

fn fault_of(bytes: Vec<u8>) -> String {
    let read = shadow_models_from_bytes("?", bytes).and_then(|recording| match recording {
        ShadowRecording::Logits(file) => file.logits(0..file.members().ncols()).map(|_| ()),
        ShadowRecording::Scores(file) => file.block(0..file.members().ncols()).map(|_| ()),
        ShadowRecording::Embeddings(file) => file.embeddings(0..file.members().ncols()).map(|_| ()),
    });
    read.unwrap_err().to_string()
}

#[test]
fn faults_are_named_with_their_place() {
    let zero = || Array3::<f32>::zeros((4, 3, 2));
    let mut nan = logits();
    nan[[3, 1, 0, 2]] = f32::NAN;
    let mut infinite = zero();
    infinite[[0, 2, 1]] = f32::NEG_INFINITY;
    let scores = |scores: Array3<f32>, truth: Array2<u8>| message(&[("scores", &scores), ("keep", &truth)]);
    let logits_with = |logits: &Array4<f32>, labels: Array1<i64>| {
        message(&[("logits", logits), ("labels", &labels), ("keep", &keep())])
    };
    let bits = || keep().mapv(u8::from);
    insta::assert_snapshot!(
        [
            message(&[("votes", &labels())]),
            message(&[("scores", &zero())]),
            message(&[("logits", &logits())]),
            scores(zero(), array![[0, 1, 0], [1, 0, 2], [0, 0, 0], [1, 1, 1]]),
            scores(zero(), Array2::zeros((3, 3))),
            scores(zero(), Array2::zeros((4, 2))),
            scores(Array3::zeros((1, 3, 2)), Array2::zeros((1, 3))),
            scores(Array3::zeros((4, 0, 2)), bits()),
            scores(infinite, bits()),
            logits_with(&nan, labels()),
            logits_with(&logits(), array![0, 3, 1]),
            logits_with(&logits(), array![0, -1, 1]),
            logits_with(&logits(), array![0, 1]),
            logits_with(&Array4::zeros((4, 3, 2, 1)), labels()),
            message(&[("scores", &Array3::<i32>::zeros((4, 3, 2))), ("keep", &keep())]),
            message(&[("scores", &Array1::<f32>::zeros(4)), ("keep", &keep())]),
        ]
        .join("\n"),
        @r"
        ?: whole file: found arrays `votes`, expected the array `logits`, `scores` or `embeddings`
        ?: whole file: found arrays `scores`, expected the array `keep` of shape (model, sample)
        ?: whole file: found arrays `logits`, expected the array `keep` of shape (model, sample)
        ?: array `keep`, index [1, 2]: found `2`, expected 0 or 1; hint: 1 where the model was trained on the sample
        ?: array `keep`: found shape [3, 3], expected shape [4, 3], a truth value for each model and sample
        ?: array `keep`: found shape [4, 2], expected shape [4, 3], a truth value for each model and sample
        ?: array `scores`: found a single model, expected at least 2 models: the others are what a victim is compared with; hint: of one model, audit the scores: that of each sample, and whether it was trained on it
        ?: array `scores`: found shape [4, 0, 2], expected at least 1 entry on axis 1
        ?: array `scores`, index [0, 2, 1]: found `-inf`, expected a number of magnitude up to 1e100
        ?: array `logits`, index [3, 1, 0, 2]: found `NaN`, expected a finite number
        ?: array `labels`, index [1]: found `3`, expected a class from 0 to 2
        ?: array `labels`, index [1]: found `-1`, expected a class from 0 to 2
        ?: array `labels`: found 2 labels, expected 3, one per sample
        ?: array `logits`: found shape [4, 3, 2, 1], expected at least 2 classes on the last axis
        ?: array `scores`: found dtype `i32`, expected dtype `f16`, `f32` or `f64`; hint: numpy converts with .astype(numpy.float32)
        ?: array `scores`: found shape [4], expected axes (model, sample, view), or without views
        "
    );
}

/// 4 models, 3 samples, 2 views, 5 numbers; exact in 16 bits.
fn embeddings() -> Array4<f32> {
    Array4::from_shape_fn((4, 3, 2, 5), |(m, s, v, d)| (m * 7 + s * 5 + v * 3 + d * d) as f32 / 8.0 - 2.0)
}

#[test]
fn embeddings_are_recorded_alone_and_beside_answers() {
    let folder = tempfile::tempdir().unwrap();
    let check_logits = check;
    let check = |recording: &ShadowRecording| {
        let file = recording.embeddings().unwrap();
        assert_eq!((file.views(), file.dimension()), (2, 5));
        assert_eq!((file.members(), recording.members()), (keep().view(), keep().view()));
        for range in [0..3, 1..2, 2..3] {
            let expected = embeddings().mapv(f64::from);
            assert_eq!(file.embeddings(range.clone()).unwrap(), expected.slice_axis(ndarray::Axis(1), range.into()));
        }
    };
    for compressed in [false, true] {
        let bytes = archive(&[("embeddings", &embeddings()), ("keep", &keep())], compressed);
        let recording = shadow_models_from_bytes("e.npz", bytes.clone()).unwrap();
        check(&recording);
        assert!(matches!(recording, ShadowRecording::Embeddings(_)) && recording.labels().is_none());
        let path = put(folder.path(), "e.npz", &bytes);
        check(&read_shadow_models(&[path], MemoryBudget::of_machine()).unwrap());
        let all = whole(&[("embeddings", &embeddings())], compressed);
        let recording = shadow_models_from_bytes("all.npz", all).unwrap();
        check(&recording);
        check_logits(&recording);
    }
    // In a folder, in 16 bits, in Fortran order.
    let mut halves = Vec::new();
    for number in embeddings().reversed_axes().iter() {
        halves.extend(half::f16::from_f32(*number).to_le_bytes());
    }
    put(folder.path(), "plain/embeddings.npy", &npy(1, "<f2", true, &[4, 3, 2, 5], &halves));
    put(folder.path(), "plain/keep.npy", &plain(&keep()));
    let recording = read_shadow_models(&[folder.path().join("plain")], MemoryBudget::of_machine()).unwrap();
    check(&recording);
    assert_eq!(recording.files().len(), 2);
    // Two files of two models each.
    for part in 0..2 {
        let bytes = archive(&[("embeddings", &two(part, &embeddings())), ("keep", &two(part, &keep()))], true);
        put(folder.path(), &format!("part{part}.npz"), &bytes);
    }
    check(&read_shadow_models(&[folder.path().join("part*.npz")], MemoryBudget::of_machine()).unwrap());
}

#[test]
fn faults_of_embeddings_are_named_with_their_place() {
    let with = |embeddings: &Array4<f32>| message(&[("embeddings", embeddings), ("keep", &keep())]);
    let mut nan = embeddings();
    nan[[1, 2, 0, 4]] = f32::NAN;
    let mut zero = embeddings();
    (0..5).for_each(|number| zero[[3, 1, 1, number]] = 0.0);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, more: &Named<'_>| put(folder.path(), name, &whole(more, true));
    let with_them = file("with.npz", &[("embeddings", &embeddings())]);
    let without = file("without.npz", &[]);
    let together = |paths: &[PathBuf]| {
        let error = read_shadow_models(paths, MemoryBudget::of_machine()).unwrap_err().to_string();
        error.replace(folder.path().to_str().unwrap(), "")
    };
    insta::assert_snapshot!(
        [
            with(&nan),
            with(&zero),
            with(&Array4::ones((4, 3, 1, 5))),
            with(&Array4::ones((4, 2, 2, 5))),
            message(&[("embeddings", &Array3::<f32>::ones((4, 3, 2))), ("keep", &keep())]),
            fault_of(whole(&[("embeddings", &Array4::<f32>::ones((4, 2, 2, 5)))], true)),
            together(&[with_them.clone(), without.clone()]),
            together(&[without, with_them]),
        ]
        .join("\n"),
        @"
        ?: array `embeddings`, index [1, 2, 0, 4]: found `NaN`, expected a finite number
        ?: array `embeddings`, index [3, 1, 1]: found a vector of zeros, expected a vector with a direction; hint: the cosine with a vector of zeros has no value; leave out samples whose units are all off
        ?: array `embeddings`: found shape [4, 3, 1, 5], expected at least 2 views on axis 2, which are compared with each other
        ?: array `keep`: found shape [4, 3], expected shape [4, 2], a truth value for each model and sample
        ?: array `embeddings`: found shape [4, 3, 2], expected axes (model, sample, view, dimension)
        ?: array `embeddings`: found 4 models, 2 samples, expected 4 models, 3 samples as of `logits`; hint: every file has the array, or none
        /with.npz: array `embeddings`: found 4 models, 3 samples, expected 8 models, 3 samples as of `logits`; hint: every file has the array, or none
        /with.npz: array `embeddings`: found 4 models, 3 samples, expected 8 models, 3 samples as of `logits`; hint: every file has the array, or none
        "
    );
}

#[test]
fn answers_at_neighbors_are_recorded_beside_those_on_samples() {
    let folder = tempfile::tempdir().unwrap();
    // Another number of views, which is that of the queries at the neighbor.
    let neighbors = Array4::from_shape_fn((4, 3, 1, 3), |(m, s, _, c)| (m * 9 + s * 3 + c * c) as f32 / 2.0);
    let check_neighbors = |recording: &ShadowRecording| {
        check(recording);
        let file = recording.neighbors().unwrap();
        assert_eq!((file.labels(), file.views(), file.classes()), (&[2, 0, 1][..], 1, 3));
        assert_eq!(file.members(), keep());
        assert_eq!(file.logits(0..3).unwrap(), neighbors.mapv(f64::from));
    };
    for compressed in [false, true] {
        let bytes = whole(&[("neighbor_logits", &neighbors)], compressed);
        check_neighbors(&shadow_models_from_bytes("n.npz", bytes).unwrap());
    }
    for (name, bytes) in [
        ("logits", plain(&logits())),
        ("labels", plain(&labels())),
        ("keep", plain(&keep())),
        ("neighbor_logits", plain(&neighbors)),
        ("embeddings", plain(&embeddings())),
    ] {
        put(folder.path(), &format!("{name}.npy"), &bytes);
    }
    let recording = read_shadow_models(&[folder.path().into()], MemoryBudget::of_machine()).unwrap();
    check_neighbors(&recording);
    assert!(recording.embeddings().is_some() && recording.files().len() == 5);
    assert_eq!(recording.inputs().unwrap().len(), 5);
}

#[test]
fn files_that_are_cut_off_say_so() {
    let folder = tempfile::tempdir().unwrap();
    for compressed in [false, true] {
        let bytes = whole(&[], compressed);
        for cut in (0..bytes.len()).step_by(7) {
            let path = put(folder.path(), "cut.npz", &bytes[..cut]);
            let error =
                read_shadow_models(std::slice::from_ref(&path), MemoryBudget::of_machine()).unwrap_err().to_string();
            assert!(error.contains("cut.npz: ") && !error.contains('\n'), "{error}");
            assert!(shadow_models_from_bytes("cut.npz", bytes[..cut].to_vec()).is_err());
        }
    }
    let bytes = plain(&logits());
    for (length, expected) in [(bytes.len() - 1, "less data"), (bytes.len() + 1, "more data"), (9, "a numpy array")] {
        let mut bytes = bytes.clone();
        bytes.resize(length, 0);
        put(folder.path(), "logits.npy", &bytes);
        put(folder.path(), "keep.npy", &plain(&keep()));
        put(folder.path(), "labels.npy", &plain(&labels()));
        let error = read_shadow_models(&[folder.path().into()], MemoryBudget::of_machine()).unwrap_err().to_string();
        assert!(error.contains("logits.npy: whole file: ") && error.contains(expected), "{error}");
    }
    for path in ["none.npz", "none*.npz"] {
        assert!(read_shadow_models(&[folder.path().join(path)], MemoryBudget::of_machine()).is_err());
    }
    assert!(read_shadow_models(&[], MemoryBudget::of_machine()).is_err());
}

#[test]
fn a_header_cannot_reserve_what_is_not_there() {
    let header = npy(1, "<f4", false, &[1 << 20, 1 << 20, 1 << 10], &[]);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("scores.npy", zip::write::SimpleFileOptions::default()).unwrap();
    writer.write_all(&header).unwrap();
    let error = shadow_models_from_bytes("h.npz", writer.finish().unwrap().into_inner()).unwrap_err().to_string();
    assert!(error.contains("less data"), "{error}");
}
