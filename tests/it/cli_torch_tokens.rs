//! `leakbound torch tokens`, from texts to the audits of its recordings.

use crate::cli_torch::leakbound;
use leakbound::record::{MemoryBudget, TokenUse, read_tokens};
use std::path::Path;

/// Small models of a few steps.
const SMALL: &str = "--device cpu --width 16 --depth 1 --heads 2 --context 24 --batch 8 --steps 150 --member-steps 150 \
                     --learning-rate 0.01 --member-learning-rate 0.01 --members 3 --document 100 --planted 6 \
                     --planted-length 8 --planted-repeats 20 --positions 60 --seed 3 --quiet";

/// Texts of words in an order that depends on the file, and one that is no text.
fn write_texts(folder: &Path) {
    let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    for file in 0..6usize {
        let text: String = (0..300).map(|place| format!("{} ", words[(place * (file + 1) + place / 7) % 8])).collect();
        let name = if file < 5 { format!("private/{file}.txt") } else { "public.txt".into() };
        std::fs::create_dir_all(folder.join("private/more")).unwrap();
        std::fs::write(folder.join(name), text).unwrap();
    }
    std::fs::write(folder.join("private/more/archive.gz"), b"\x1f\x8b\0\0").unwrap();
}

/// One training, kept in a file, serves recordings with and without answers and in both precisions; the recording of
/// another run on two threads is the same.
#[test]
fn recordings_are_read_by_the_audits_they_are_for() {
    let folder = tempfile::tempdir().unwrap();
    write_texts(folder.path());
    let place = |name: &str| folder.path().join(name).display().to_string();
    let [fixed, answers, texts, shadow, checkpoint] =
        ["fixed.npz", "answers.npz", "texts.jsonl", "shadow.npz", "models.checkpoint"].map(place);
    let run = |arguments: &str| {
        let (status, stdout, stderr) = leakbound(arguments);
        assert_eq!(status, 0, "{arguments}: {stderr}");
        stdout
    };
    let train = |recording: &str, options: &str| {
        let (private, public) = (place("private"), place("public.txt"));
        run(&format!("torch tokens --private {private} --public {public} --recording {recording} {SMALL} {options}"))
    };
    let kept = format!("--checkpoint {checkpoint} --resume");
    let stdout = train(&fixed, &format!("--threads 1 --texts {texts} --target 1 --shadow {shadow} {kept}"));
    assert!(stdout.contains("108 positions of 3 members (each a byte transformer of 1 block, width 16"), "{stdout}");
    for fact in ["member loss own", "member loss held out", "planted loss owner", "logits", "[108, 3, 256]"] {
        assert!(stdout.contains(fact), "{fact}: {stdout}");
    }
    let mechanism = "mixed-tokens:order=3,radius=0.05";
    let stdout = run(&format!("audit tokens {fixed} --contexts fixed --mechanism {mechanism} --format json"));
    let audit: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    println!("{}", audit["planted"]);
    assert_eq!((&audit["members"], &audit["positions"]), (&3.into(), &60.into()), "{stdout}");
    let p_value = audit["planted"]["p_value"].as_f64().unwrap();
    // Six first ranks of three have 3^-6 = 0.00137.
    assert!(p_value < 0.05, "{p_value}");
    let stdout = run(&format!("membership text {texts} --format json"));
    let scores: Vec<&str> = ["loss", "zlib", "min-k", "min-k-plus-plus", "reference", "surprise"].into();
    assert!(scores.iter().all(|score| stdout.contains(&format!("\"{score}\""))), "{stdout}");
    run(&format!("membership lira {shadow} --mode offline --variance pooled"));

    let stdout = train(&answers, &format!("--mechanism {mechanism} --answer-length 25 --precision f16 {kept}"));
    assert!(stdout.contains("f16"), "{stdout}");
    run(&format!("audit tokens {answers} --mechanism {mechanism}"));
    let recording = read_tokens(&answers, MemoryBudget::default()).unwrap();
    assert!(recording.uses()[..60].iter().all(|used| matches!(used, TokenUse::Answer(Some(_)))));
    // Without the checkpoint and on two threads.
    let again = place("again.npz");
    train(&again, &format!("--mechanism {mechanism} --answer-length 25 --precision f16 --threads 2"));
    assert!(std::fs::read(&again).unwrap() == std::fs::read(&answers).unwrap());
}

#[test]
fn what_cannot_be_trained_or_recorded_is_one_line_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    write_texts(folder.path());
    let place = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(place("empty"), "").unwrap();
    std::fs::write(place("short"), "a few words").unwrap();
    let recording = folder.path().join("tokens.npz");
    let rejected = |status: i32, private: &str, (before, after): (&str, &str), expected: &str| {
        let options = SMALL.replace(before, after);
        let arguments = format!("torch tokens --private {} --recording {}", place(private), recording.display());
        let (found, stdout, stderr) = leakbound(&format!("{arguments} {options}"));
        assert_eq!((found, stdout.as_str()), (status, ""), "{options}: {stderr}");
        assert!(stderr.contains(expected) && stderr.lines().count() <= 2, "{options}: {stderr}");
        assert!(!recording.exists());
    };
    let none = ("", "");
    rejected(1, "empty", none, "whole file: found an empty file, expected text");
    rejected(1, "nowhere", none, "nowhere");
    rejected(1, "private/more", none, "found 1 files, none of them text, expected files of plain text");
    rejected(1, "short", none, "found 0 documents of more than 24 bytes");
    rejected(
        1,
        "public.txt",
        ("--document 100", "--document 500"),
        "expected a document for each of 3 members; hint: ",
    );
    rejected(1, "private", ("--positions 60", "--positions 100000"), "expected 100000 positions or prompts; hint: ");
    rejected(
        2,
        "private",
        ("--quiet", "--quiet --texts t.jsonl --target 3"),
        "--target: there is no member 3: they are 0 to 2",
    );
    rejected(2, "private", ("--quiet", "--quiet --mechanism cats:order=1"), "cats");
    rejected(2, "private", ("--quiet", "--quiet --mechanism mixed-tokens:order=3"), "radius");
    let long = "planted sequences of 13 letters for a context of 24; take at most half";
    rejected(2, "private", ("--planted-length 8", "--planted-length 13"), long);
    rejected(2, "private", ("--quiet", "--quiet --max-memory 100K"), "logits of 3 members at 108 positions take 1.");
    let taken = place("private/0.txt");
    let (status, _, stderr) =
        leakbound(&format!("torch tokens --private {} --recording {taken} {SMALL}", place("private")));
    assert!(status == 1 && stderr.contains("--recording: found a file that the recipe reads"), "{stderr}");
    assert!(!recording.exists());
}
