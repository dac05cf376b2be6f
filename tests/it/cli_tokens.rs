//! Audits of next tokens by the command.

use crate::arrays::{Arrays, archive, npy, packed};
use crate::desk::{Desk, rows_of, says};
use crate::json::{number, rows};
use crate::report_pages::checked;
use ndarray::{Array1, Array2, Array3, Axis, array};

/// Logits [position, member, token] of 12 positions, 3 members and 5 tokens, and of a public model.
fn logits() -> (Array3<f32>, Array2<f32>) {
    let public = Array2::from_shape_fn((12, 5), |(position, token)| ((position * 5 + token) as f32).sin());
    let members = Array3::from_shape_fn((12, 3, 5), |(position, member, token)| {
        public[[position, token]] + 0.8 * ((7 * position + 3 * member + 2 * token) as f32).cos()
    });
    (members, public)
}

/// An archive of them, of the tokens that were answered, and of planted sequences.
fn recorded(compressed: bool) -> Vec<u8> {
    let (members, public) = logits();
    let arrays: &Arrays<'_> = &[
        ("logits", &members),
        ("public_logits", &public),
        ("tokens", &Array1::from_shape_fn(12, |position| (3 * position % 5) as u8)),
        ("canary", &Array1::from_shape_fn(12, |position| if position < 8 { -1 } else { (position % 2) as i32 })),
        ("planted", &array![2u8, 0]),
    ];
    packed(compressed, arrays)
}

const AUDIT: &str = "audit tokens t.npz --mechanism mixed-tokens:order=3,radius=0.05";

#[test]
fn an_ensemble_is_audited_in_every_form() {
    let desk = Desk::new();
    desk.file("t.npz", recorded(false));
    desk.file("packed.npz", recorded(true));
    let answer = desk.json(AUDIT);
    assert_eq!(answer["schema"], "leakbound.audit-tokens/1");
    assert_eq!((&answer["positions"], &answer["members"], &answer["tokens"]), (&8.into(), &3.into(), &5.into()));
    assert_eq!(rows(&answer["renyi"]).len(), 15);
    assert_eq!(rows(&answer["leaking"]).len(), 8);
    assert_eq!(answer["inputs"][0]["name"], "t.npz");
    let p_value = number(&answer["planted"]["p_value"]);
    assert!(p_value > 0.0 && p_value <= 1.0);
    let packed = desk.json(&AUDIT.replace("t.npz", "packed.npz"));
    for key in ["renyi", "losses", "accountants", "leaking", "planted"] {
        assert_eq!(answer[key], packed[key], "{key}");
    }
    // Lower bounds are below upper ones where contexts were fixed beforehand.
    let fixed = desk.json(&format!("{AUDIT} --contexts fixed"));
    for row in rows(&fixed["losses"]) {
        assert!(number(&row["epsilon_at_least"]) <= number(&row["epsilon_at_most"]), "{row}");
    }
    // The same sums, which are divergences of all answers where contexts were fixed beforehand.
    for (of_run, of_all) in rows(&answer["renyi"]).iter().zip(rows(&fixed["renyi"])) {
        assert_eq!((&of_run["forward"], &of_run["reverse"]), (&of_all["forward"], &of_all["reverse"]));
        assert_eq!((&of_run["validity"], &of_all["validity"]), (&"heuristic".into(), &"exact".into()));
    }
    let of_bounds: Vec<_> = rows(&answer["accountants"]).iter().map(|row| (&row["name"], &row["validity"])).collect();
    assert!(of_bounds.contains(&(&"mixed-tokens".into(), &"exact".into())), "{of_bounds:?}");

    let page = desk.path("page.html");
    let text = desk.run(&format!("{AUDIT} --report {}", page.display())).printed(0);
    says(&text, &["Contexts hold earlier answers", "Accountants next to the exact values", "2 planted sequences"]);
    checked(&desk.text("page.html"), |page| {
        assert!(page.descendants().filter(|node| node.has_tag_name("svg")).count() >= 2);
    });
    // A row for each position and order.
    let table = desk.stdout(&format!("{AUDIT} --format csv --orders 2,3"));
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!((lines[0], lines.len()), ("position,token,order,member,replaced_by,direction,divergence", 17));
}

/// A folder of arrays, logarithms and probabilities, and numbers of half precision are the same recording.
#[test]
fn forms_of_recordings() {
    let desk = Desk::new();
    let (members, public) = logits();
    let softmax = |row: &[f32]| -> Vec<f64> {
        let sum: f64 = row.iter().map(|logit| f64::from(*logit).exp()).sum();
        row.iter().map(|logit| f64::from(*logit).exp() / sum).collect()
    };
    let probabilities = |rows: Vec<&[f32]>| rows.into_iter().flat_map(softmax).collect::<Vec<f64>>();
    let of_members = probabilities(members.as_slice().unwrap().chunks(5).collect());
    let of_public = probabilities(public.as_slice().unwrap().chunks(5).collect());
    desk.file("l.npy", npy(&members));
    let plain = desk.json("audit tokens l.npy --mechanism clipped-logits:clip=2,batch=3");
    for (name, logs) in [("probabilities", false), ("log_probabilities", true)] {
        let value = |p: &f64| if logs { p.ln() } else { *p };
        let shaped = Array3::from_shape_vec((12, 3, 5), of_members.iter().map(value).collect()).unwrap();
        let of_public = Array2::from_shape_vec((12, 5), of_public.iter().map(value).collect()).unwrap();
        desk.arrays("other.npz", &[(name, &shaped), (&format!("public_{name}"), &of_public)]);
        let other = desk.json("audit tokens other.npz --mechanism clipped-logits:clip=2,batch=3");
        for (a, b) in rows(&plain["renyi"]).iter().zip(rows(&other["renyi"])) {
            let (a, b) = (number(&a["forward"]), number(&b["forward"]));
            assert!((a / b - 1.0).abs() < 1e-9, "{name}: {a} {b}");
        }
    }
    let alone = desk.json("audit tokens l.npy --mechanism interpolated-tokens:share=0.9 --contexts fixed");
    assert!(alone["losses"][0]["loss"].is_null() && alone["planted"].is_null());
    // Fewer tokens by the public model, and a temperature.
    let kept =
        desk.json("audit tokens other.npz --mechanism interpolated-tokens:share=0.9 --top-k 3 --temperature 0.5");
    assert!(number(&kept["accountants"][0]["answer"]) < number(&alone["accountants"][0]["answer"]));
}

/// The recording of `validation/data/make_parquet.py`, as arrays.
fn of_the_table() -> Vec<u8> {
    let logit = |position: usize, model: usize, token: usize| ((7 * position + 3 * model + 5 * token) % 11) as f32;
    let models = |from: usize, count: usize| {
        Array3::from_shape_fn((12, count, 9), |(position, model, token)| {
            (logit(position, from + model, token) - 5.0) / 4.0
        })
    };
    archive(&[
        ("logits", &models(0, 4)),
        ("spare_logits", &models(4, 1)),
        ("public_logits", &models(5, 1).remove_axis(Axis(1))),
        ("tokens", &Array1::from_shape_fn(12, |position| (2 * position % 9) as i32)),
        ("canary", &array![-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 1, 1]),
        ("planted", &array![2u8, 0]),
    ])
}

#[test]
fn tables_say_the_same_as_arrays() {
    let desk = Desk::new();
    desk.file("t.npz", of_the_table());
    for name in ["next_tokens.parquet", "next_tokens_half.parquet"] {
        desk.file(name, std::fs::read(Desk::root().path(&format!("validation/data/{name}"))).unwrap());
        for options in ["mixed-tokens:order=3,radius=0.05", "clipped-logits:clip=1,batch=4 --neighbors replaced"] {
            let of_arrays = desk.json(&format!("audit tokens t.npz --mechanism {options}"));
            let of_table = desk.json(&format!("audit tokens {name} --mechanism {options}"));
            for key in ["positions", "renyi", "losses", "accountants", "epsilons", "leaking", "planted"] {
                assert_eq!(of_arrays[key], of_table[key], "{name} {options} {key}");
            }
            // The table also has a column of notes, which is not read.
            let others = rows(&of_table["warnings"]).iter().filter(|warning| warning["code"] != "not-used");
            assert!(others.eq(rows(&of_arrays["warnings"])), "{name} {options}: {}", of_table["warnings"]);
            assert!(of_table["planted"].is_object() && of_table["inputs"][0]["name"] == name);
        }
    }
}

/// Transcripts, from a table and simulated, in text, JSON and a page.
#[test]
fn transcripts_are_bounded() {
    let desk = Desk::new();
    let name = "transcripts.parquet";
    desk.file(name, std::fs::read(Desk::root().path(&format!("validation/data/{name}"))).unwrap());
    // The same by the rule of `make_parquet.py`.
    let logit = |position: usize, member: usize, token: usize| ((7 * position + 3 * member + 5 * token) % 11) as f32;
    let logits = Array3::from_shape_fn((8, 2, 9), |(p, m, t)| (logit(p, m, t) - 5.0) / 4.0);
    let again = Array3::from_shape_fn((8, 3, 120), |(p, e, i)| ((p + 2 * e + i * i) % 9) as u16);
    desk.arrays("t.npz", &[("logits", &logits), ("transcripts", &again)]);
    let audit = |file: &str| format!("audit tokens {file} --mechanism clipped-logits:clip=1,batch=2 --contexts fixed");
    let (of_table, of_arrays) = (desk.json(&audit(name)), desk.json(&audit("t.npz")));
    assert_eq!(of_table["transcripts"], of_arrays["transcripts"]);
    assert_eq!(of_table["transcripts"]["source"], "recorded");
    assert_eq!(rows(&of_table["transcripts"]["renyi"]).len(), 10);

    desk.file("s.npz", recorded(false));
    let simulated = format!("{AUDIT} --contexts fixed --transcripts 300 --seed 5").replace("t.npz", "s.npz");
    let answer = desk.json(&simulated);
    assert_eq!((&answer["transcripts"]["source"], &answer["transcripts"]["seed"]), (&"simulated".into(), &5.into()));
    for row in rows(&answer["transcripts"]["renyi"]) {
        assert!(number(&row["forward"]) <= number(&row["exact_forward"]), "{row}");
    }
    let page = desk.path("page.html");
    let text = desk.run(&format!("{simulated} --report {}", page.display())).printed(0);
    says(&text, &["by 300 transcripts", "300 transcripts of each ensemble, drawn from the recorded distributions"]);
    checked(&desk.text("page.html"), |page| {
        assert!(page.descendants().any(|node| node.text().is_some_and(|text| text.contains("Members by transcripts"))));
    });
    for (options, expected) in [
        ("--transcripts 300", "say so by `fixed` contexts"),
        ("--contexts fixed --transcripts 99", "not a whole number in [100, 10^6]"),
        ("--contexts fixed --transcripts x", "--transcripts"),
    ] {
        let (_, line) = desk.failed(&format!("{AUDIT} {options}").replace("t.npz", "s.npz"));
        assert!(line.contains(expected), "{line}");
    }
}

#[test]
fn claims_decide_the_status() {
    let desk = Desk::new();
    desk.file("t.npz", recorded(false));
    let refuted = desk.answer(3, &format!("{AUDIT} --claim-answer-rdp 2:1e-9 --claim-rdp 2:100"));
    assert_eq!((&refuted["claims"][0]["refuted"], &refuted["claims"][1]["refuted"]), (&false.into(), &true.into()));
    desk.answer(3, &format!("{AUDIT} --contexts fixed --claim-rdp 2:1e-6"));
    desk.answer(0, &format!("{AUDIT} --claim-epsilon 5 --claim-mu 5"));
}

#[test]
fn bad_recordings_and_options_get_one_line() {
    let desk = Desk::new();
    let (members, public) = logits();
    let with = |name: &str, arrays: &Arrays<'_>| drop(desk.arrays(name, arrays));
    let zeros = Array1::from_elem(12, 0u8);
    let mut nan = members.clone();
    nan[[7, 1, 3]] = f32::NAN;
    with("nan.npz", &[("logits", &nan)]);
    with("sum.npz", &[("probabilities", &Array3::<f32>::from_elem((2, 2, 4), 0.5))]);
    with("shape.npz", &[("logits", &members), ("public_logits", &Array2::<f32>::zeros((12, 4)))]);
    with("token.npz", &[("logits", &members), ("tokens", &Array1::from_elem(12, 5u8))]);
    with("other.npz", &[("votes", &public)]);
    with("mixed.npz", &[("logits", &members), ("public_probabilities", &public)]);
    with("alone.npz", &[("logits", &members)]);
    let (canary, planted) = (Array1::from_elem(12, -1i8), array![0u8]);
    let planted: &Arrays<'_> = &[("logits", &members), ("tokens", &zeros), ("canary", &canary), ("planted", &planted)];
    with("planted.npz", planted);
    let tokens = Array1::from_shape_fn(12, |position| if position == 4 { -1i8 } else { 0 });
    with("some.npz", &[("logits", &members), ("tokens", &tokens)]);
    let mut rare = members.clone();
    rare.index_axis_mut(Axis(0), 3).column_mut(0).fill(f32::NEG_INFINITY);
    with("rare.npz", &[("logits", &rare), ("tokens", &zeros)]);
    let header = r#"{"probabilities": {"dtype": "F16", "shape": [1, 1, 2], "data_offsets": [0, 4]}}"#;
    let half = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0, 0x38, 0, 0x38]].concat();
    desk.file("half.safetensors", half);
    desk.file("cut.safetensors", 400u64.to_le_bytes());
    desk.file("fortran.npy", npy(&Array3::<f32>::zeros(ndarray::ShapeBuilder::f((3, 2, 2)))));
    let rows = &rows_of("cli_tokens", "bad_recordings_and_options_get_one_line");
    desk.rejects("audit tokens --mechanism interpolated-tokens:share=1", rows);
}

#[test]
fn mechanisms_that_are_none_get_one_line() {
    let desk = Desk::new();
    desk.arrays("alone.npz", &[("logits", &logits().0)]);
    desk.rejects("audit tokens alone.npz --mechanism", &rows_of("cli_tokens", "mechanisms_that_are_none_get_one_line"));
}

/// A model that was set aside in place of a member, pairs of models, and what is missing for them.
#[test]
fn members_are_replaced_and_come_in_pairs() {
    let desk = Desk::new();
    let (members, public) = logits();
    let kept = members.select(Axis(1), &[0, 1]);
    for (name, spares) in [("two.npz", vec![2, 2]), ("one.npz", vec![2])] {
        let spares = members.select(Axis(1), &spares);
        desk.arrays(name, &[("logits", &kept), ("spare_logits", &spares), ("public_logits", &public)]);
    }
    desk.file("t.npz", recorded(false));
    let replaced = "audit tokens two.npz --neighbors replaced --contexts fixed --mechanism";
    let answer = desk.answer(3, &format!("{replaced} clipped-logits:clip=2,batch=2 --claim-epsilon 0.1"));
    assert_eq!((&answer["neighbors"], rows(&answer["losses"]).len()), (&"replaced".into(), 4));
    // Both models that were set aside are the same.
    assert_eq!(answer["losses"][1]["epsilon"], answer["losses"][3]["epsilon"]);
    assert_eq!((&answer["losses"][3]["member"], &answer["losses"][3]["replaced_by"]), (&1.into(), &1.into()));
    let enclosed = answer["losses"].as_array().unwrap().iter().map(|row| &row["epsilon"]);
    let lower = enclosed.map(|epsilon| number(&epsilon[0])).fold(0.0, f64::max);
    // A claim is tested against the lower end, rounded down by its own error.
    let (tested, failure) =
        (number(&answer["claims"][0]["lower"]), number(&answer["claims"][0]["failure_probability"]));
    assert!(tested <= lower && tested > lower * (1.0 - 2e-9) && failure == 0.0, "{tested} {lower} {failure}");
    for row in rows(&answer["epsilons"]) {
        assert!(number(&row["epsilon"]) >= lower, "{row}");
    }
    let text = desk.run(&format!("{replaced} clipped-logits:clip=2,batch=2")).printed(0);
    says(&text, &["replaced by", "dominating-pair", "is enclosed"]);
    let pairs = desk.json(&format!("{replaced} submixed-tokens:order=2,discordance=0.1"));
    assert_eq!((rows(&pairs["losses"]).len(), rows(&pairs["accountants"]).len()), (1, 0));
    desk.run(&format!("{replaced} submixed-tokens:order=2,discordance=0.1")).printed(0);

    let pair = "--mechanism submixed-tokens:order=2,discordance=0.1";
    for (words, line) in [
        ("t.npz --neighbors replaced --mechanism interpolated-tokens:share=1", "set aside, and 0 were recorded; 1 or"),
        (&format!("one.npz --neighbors replaced {pair}"), "and 1 were recorded; 2 or a multiple is needed"),
        (&format!("t.npz {pair}"), "submixed-tokens takes 2 models of each owner, and 3 were recorded"),
    ] {
        let (_, found) = desk.failed(&format!("audit tokens {words}"));
        assert!(found.contains(line), "{words}: {found}");
    }
}
