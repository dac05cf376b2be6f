//! `leakbound torch tokens`, from texts to the audits of its recordings.

use crate::desk::Desk;
use leakbound::record::{MemoryBudget, TokenUse, read_tokens};

/// Small models of a few steps.
const SMALL: &str = "--device cpu --width 16 --depth 1 --heads 2 --context 24 --batch 8 --steps 150 --member-steps 150 \
                     --learning-rate 0.01 --member-learning-rate 0.01 --members 3 --document 100 --planted 6 \
                     --planted-length 8 --planted-repeats 20 --positions 60 --seed 3 --quiet";

/// A folder with texts of words in an order that depends on the file, and one that is no text.
fn texts() -> Desk {
    let desk = Desk::new();
    std::fs::create_dir_all(desk.path("private/more")).unwrap();
    let words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta"];
    for file in 0..6usize {
        let text: String = (0..300).map(|place| format!("{} ", words[(place * (file + 1) + place / 7) % 8])).collect();
        desk.file(&if file < 5 { format!("private/{file}.txt") } else { "public.txt".into() }, text);
    }
    desk.file("private/more/archive.gz", b"\x1f\x8b\0\0");
    desk
}

/// One training, kept in a file, serves recordings with and without answers and in both precisions; the recording of
/// another run on two threads is the same.
#[test]
fn recordings_are_read_by_the_audits_they_are_for() {
    let desk = texts();
    let train = |recording: &str, options: &str| {
        desk.done(&format!(
            "torch tokens --private private --public public.txt --recording {recording} {SMALL} {options}"
        ))
    };
    let kept = "--checkpoint kept --resume";
    let stdout = train("fixed.npz", &format!("--threads 1 --texts texts.jsonl --target 1 --shadow shadow.npz {kept}"));
    assert!(stdout.contains("108 positions of 3 members (each a byte transformer of 1 block, width 16"), "{stdout}");
    for fact in ["member loss own", "member loss held out", "planted loss owner", "logits", "[108, 3, 256]"] {
        assert!(stdout.contains(fact), "{fact}: {stdout}");
    }
    let mechanism = "mixed-tokens:order=3,radius=0.05";
    let audit = desk.done_json(&format!("audit tokens fixed.npz --contexts fixed --mechanism {mechanism}"));
    println!("{}", audit["planted"]);
    assert_eq!((&audit["members"], &audit["positions"]), (&3.into(), &60.into()), "{audit}");
    let p_value = audit["planted"]["p_value"].as_f64().unwrap();
    // Six first ranks of three have 3^-6 = 0.00137.
    assert!(p_value < 0.05, "{p_value}");
    let stdout = desk.done("membership text texts.jsonl --format json");
    let scores: Vec<&str> = ["loss", "zlib", "min-k", "min-k-plus-plus", "reference", "surprise"].into();
    assert!(scores.iter().all(|score| stdout.contains(&format!("\"{score}\""))), "{stdout}");
    desk.done("membership lira shadow.npz --mode offline --variance pooled");

    let answers = format!("--mechanism {mechanism} --answer-length 25 --precision f16");
    let stdout = train("answers.npz", &format!("{answers} {kept}"));
    assert!(stdout.contains("f16"), "{stdout}");
    desk.done(&format!("audit tokens answers.npz --mechanism {mechanism}"));
    let recording = read_tokens(desk.path("answers.npz"), MemoryBudget::default()).unwrap();
    assert!(recording.uses()[..60].iter().all(|used| matches!(used, TokenUse::Answer(Some(_)))));
    // Without the checkpoint and on two threads.
    train("again.npz", &format!("{answers} --threads 2"));
    desk.are_the_same(["again.npz", "answers.npz"]);
}

#[test]
fn what_cannot_be_trained_or_recorded_is_one_line_and_nothing_is_written() {
    let desk = texts();
    desk.file("empty", "");
    desk.file("short", "a few words");
    let rejected = |status: i32, private: &str, options: &str, expected: &str| {
        let words = format!("torch tokens --private {private} --recording tokens.npz {options}");
        let ran = desk.ends(status, &words, expected);
        assert!(ran.stdout.is_empty() && ran.stderr.lines().count() <= 2, "{ran:?}");
        assert!(!desk.path("tokens.npz").exists());
    };
    let with = |before: &str, after: &str| SMALL.replace(before, after);
    let more = |options: &str| format!("{SMALL} {options}");
    rejected(1, "empty", SMALL, "whole file: found an empty file, expected text");
    rejected(1, "nowhere", SMALL, "nowhere");
    rejected(1, "private/more", SMALL, "found 1 files, none of them text, expected files of plain text");
    rejected(1, "short", SMALL, "found 0 documents of more than 24 bytes");
    let long = with("--document 100", "--document 500");
    rejected(1, "public.txt", &long, "expected a document for each of 3 members; hint: ");
    let many = with("--positions 60", "--positions 100000");
    rejected(1, "private", &many, "expected 100000 positions or prompts; hint: ");
    let none = more("--texts t.jsonl --target 3");
    rejected(2, "private", &none, "--target: no member 3; members are 0 to 2");
    rejected(2, "private", &more("--mechanism cats:order=1"), "cats");
    rejected(2, "private", &more("--mechanism mixed-tokens:order=3"), "radius");
    let planted = with("--planted-length 8", "--planted-length 13");
    rejected(2, "private", &planted, "planted sequences of 13 letters for a context of 24; take at most half");
    rejected(2, "private", &more("--max-memory 100K"), "logits of 3 members at 108 positions take 1.");
    let taken = format!("torch tokens --private private --recording private/0.txt {SMALL}");
    desk.ends(1, &taken, "--recording: found a file that the recipe reads");
    assert!(!desk.path("tokens.npz").exists());
}
