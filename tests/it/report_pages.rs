//! `--report` and `--figures`: pages and figures that are complete, self-contained and well-formed, or absent.

use crate::desk::{Desk, names, rows_of, says};
use leakbound::audit::FailurePer;
use leakbound::bound::{Direction, Validity};
use leakbound::report::{Answered, Document, Envelope};
use leakbound::study::{BoundRow, Claim, CountsAnswer, EpsilonRow, FailureNote, Number, SetRow, Warning};
use roxmltree::{Node, ParsingOptions};
use std::fs;

const COUNTS: &str = "outcome,count,count_neighbor\na,600,500\nb,300,400\nc,100,100\n";
const EXACT: &str = "exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise gaussian:2 --epsilons 0.1,1";

/// A folder with counts in it.
fn desk() -> Desk {
    let desk = Desk::new();
    desk.file("a.csv", COUNTS);
    desk
}

/// Hands the parsed page to `look` after the checks that every page passes.
pub fn checked(page: &str, look: impl FnOnce(Node)) {
    assert!(page.starts_with("<!DOCTYPE html><html lang=\"en\">"), "{}", &page[..80]);
    for word in ["http", "<script", "@import", "url(", "src="] {
        assert!(!page.contains(word), "{word}");
    }
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = roxmltree::Document::parse_with_options(page, options).unwrap();
    let root = document.root_element();
    let has = |name: &str| root.descendants().any(|node| node.has_tag_name(name));
    assert!(has("title") && has("h1"));
    says(page, &["<meta charset=\"utf-8\"/>", "name=\"viewport\""]);
    let ids: Vec<&str> = root.descendants().filter_map(|node| node.attribute("id")).collect();
    for figure in root.descendants().filter(|node| node.has_tag_name("svg")) {
        assert_eq!(figure.attribute("role"), Some("img"));
        for id in figure.attribute("aria-labelledby").unwrap().split(' ') {
            assert_eq!(ids.iter().filter(|known| **known == id).count(), 1, "{id}");
        }
        for part in ["title", "desc"] {
            let text = figure.children().find(|node| node.has_tag_name(part)).and_then(|node| node.text());
            assert!(text.is_some_and(|text| !text.is_empty()), "{part}");
        }
    }
    for link in root.descendants().filter_map(|node| node.attribute("href")) {
        assert!(ids.contains(&link.strip_prefix('#').unwrap()), "{link}");
    }
    look(root);
}

pub fn tags(root: Node, name: &str) -> usize {
    root.descendants().filter(|node| node.has_tag_name(name)).count()
}

pub fn text_of(root: Node) -> String {
    root.descendants().filter_map(|node| if node.is_text() { node.text() } else { None }).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_command_has_a_page() {
    let (root, desk) = (Desk::root(), Desk::new());
    let page = desk.path("page.html");
    let cases = [
        (EXACT, 4, "0.239564145745804"),
        ("audit counts validation/data/counts.csv", 4, "k-cut-"),
        ("audit counts validation/data/counts.csv --orders 2", 4, "k-cut-"),
        ("audit counts validation/data/counts.csv --orders 2..20 --direction forward", 3, "k-cut-"),
        ("audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --delta 1e-5", 4, "clopper-pearson"),
        (
            "audit votes validation/data/prompt_votes.npz --model prompt-pate --noise gaussian:40 --samples 1e5 \
             --queries 0,1,2 --orders 2,8",
            5,
            "k-cut-region",
        ),
        ("simulate validation/scenarios/prompt-pate.toml --samples 1e4", 0, "chi-square"),
    ];
    for (arguments, figures, word) in cases {
        let reported = root.stdout(&format!("{arguments} --report {}", page.display()));
        assert_eq!(reported, root.stdout(arguments), "{arguments}");
        checked(&desk.text("page.html"), |root| {
            assert_eq!(tags(root, "svg"), figures, "{arguments}");
            let text = text_of(root);
            assert!(text.contains(word) && text.contains("What these numbers mean"), "{arguments}: {text}");
        });
    }
    assert_eq!(desk.names(), ["page.html"]);
}

#[test]
fn the_page_says_what_it_was_made_of() {
    let desk = desk();
    let claims = "--claim-epsilon 0.01 --claim-rdp 2:9 --delta 1e-5";
    let arguments =
        format!("audit counts a.csv {claims} --methods all --seed 7 --report r.html --output r.json --format json");
    desk.run(&arguments).printed(3);
    let json: serde_json::Value = serde_json::from_str(&desk.text("r.json")).unwrap();
    checked(&desk.text("r.html"), |root| {
        let text = text_of(root);
        let hash = json["inputs"][0]["sha256"].as_str().unwrap();
        let hint = json["warnings"][0]["hint"].as_str().unwrap();
        let version = env!("CARGO_PKG_VERSION");
        says(&text, &["a.csv", hash, hint, version, "1 in 20", "Refuted", "Not refuted", "ε ≤ 0.01", "claim-epsilon"]);
        let mut terms = root.descendants().filter(|node| node.has_tag_name("dt"));
        let seed = terms.find(|node| node.text() == Some("seed")).unwrap();
        assert_eq!(seed.next_sibling().and_then(|node| node.text()), Some("7"));
    });
}

#[test]
fn figures_are_files_of_their_own() {
    let desk = desk();
    fs::create_dir(desk.path("fig")).unwrap();
    desk.stdout(&format!("{EXACT} --report page.one.html --figures fig"));
    let files = names(&desk.path("fig"));
    assert_eq!(files, ["page.one-1.svg", "page.one-2.svg", "page.one-3.svg", "page.one-4.svg"]);
    assert_eq!(desk.names(), ["a.csv", "fig", "page.one.html"]);
    for file in files {
        let svg = desk.text(&format!("fig/{file}"));
        let document = roxmltree::Document::parse(&svg).unwrap();
        let root = document.root_element();
        assert_eq!(root.tag_name().name(), "svg");
        // White paper and no style sheet: a program that knows neither CSS nor pages shows the same.
        let paper = root.children().find(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "rect"))).unwrap();
        assert_eq!(paper.attribute("fill"), Some("#ffffff"));
        assert!(!svg.contains("<style") && !svg.contains("var(") && !svg.contains("href"));
    }
}

#[test]
fn places_that_cannot_be_used_are_rejected_before_the_work() {
    let desk = desk();
    fs::create_dir(desk.path("folder")).unwrap();
    desk.file("r-1.svg", COUNTS);
    desk.rejects("audit counts", &rows_of("report_pages", "places_that_cannot_be_used_are_rejected_before_the_work"));
    assert_eq!(desk.text("a.csv"), COUNTS);
}

#[test]
fn an_old_page_stays_until_the_new_one_is_complete() {
    let desk = desk();
    desk.file("r.html", "old");
    desk.file("bad.csv", "outcome,count,count_neighbor\na,-1,2\n");
    desk.rejected(1, "audit counts bad.csv --report r.html --figures .");
    assert_eq!(desk.text("r.html"), "old");
    desk.stdout("audit counts a.csv --report r.html");
    assert!(desk.text("r.html").starts_with("<!DOCTYPE html>"));
}

#[test]
fn hostile_labels_are_shown_as_they_are() {
    let desk = Desk::new();
    let label = "<script>alert('x')</script><b>&amp;";
    let file = format!(
        "outcome,count,count_neighbor,query\n{label},600,500,{label}\nb,400,500,{label}\n\
                        x,6,5,שאילתה\ny,5,6,שאילתה\n"
    );
    desk.file("<i>.csv", file);
    desk.stdout("audit counts <i>.csv --report r.html");
    checked(&desk.text("r.html"), |root| {
        assert_eq!(tags(root, "script") + tags(root, "b") + tags(root, "i"), 0);
        let cells = root.descendants().filter(|node| node.has_tag_name("td"));
        let cells: Vec<&str> = cells.filter_map(|node| node.text()).collect();
        assert!(cells.contains(&label) && cells.contains(&"שאילתה") && cells.contains(&"<i>.csv"), "{cells:?}");
    });
}

/// A document with this name for everything that has a name.
fn document(name: &str, queries: usize, value: f64) -> Answered<CountsAnswer> {
    let (mut bounds, mut epsilon) = (Vec::new(), Vec::new());
    for query in 0..queries {
        let query = if query == 0 { name.to_owned() } else { format!("{query}") };
        for (method, validity) in [("a", Validity::FiniteSample), ("b", Validity::Heuristic), ("c", Validity::Bayesian)]
        {
            for direction in Direction::BOTH {
                bounds.extend([2.0, 4.0, 8.0, f64::MAX].map(|order| BoundRow {
                    query: query.clone(),
                    method,
                    direction,
                    order,
                    rdp_lower: Number(value),
                    failure_probability: 1e-300,
                    validity,
                }));
                epsilon.push(EpsilonRow {
                    query: query.clone(),
                    method,
                    direction,
                    delta: 0.0,
                    epsilon_lower: Number(value),
                    failure_probability: 1e-300,
                    validity,
                });
            }
        }
    }
    Answered {
        envelope: Envelope {
            schema: "leakbound.audit-counts/1",
            command: "audit counts".into(),
            version: "0.1.0",
            inputs: Vec::new(),
            options: serde_json::json!({ "file": name, "orders": [2, 4], "null": null, "case": { "nested": name } }),
            seed: 0,
            warnings: vec![Warning { code: "hostile", message: name.to_owned(), hint: name.to_owned() }],
        },
        title: format!("{name}\n{name}"),
        answer: CountsAnswer {
            failure: FailureNote {
                probability: value,
                per: FailurePer::Answer,
                queries,
                share: value / 2.0,
                joint_share: Some(value),
                nominal: true,
            },
            bounds,
            epsilon,
            output_sets: vec![SetRow {
                query: name.to_owned(),
                source: name.to_owned(),
                outcomes: vec![name.to_owned(); 50],
                directed: true,
            }],
            recommendations: Vec::new(),
            distribution: Vec::new(),
            trade_off: Vec::new(),
            composed: None,
            forecasts: Vec::new(),
            claims: vec![Claim {
                claim: name.to_owned(),
                lower: Number(value),
                query: name.to_owned(),
                refuted: true,
                failure_probability: 0.999,
            }],
            warnings: Vec::new(),
        },
    }
}

#[test]
fn every_text_and_number_gives_a_page() {
    let texts = [
        String::new(),
        "</title></style></svg><script>alert(1)</script>\"'&<!--]]>".into(),
        (0..=0x9f).filter_map(char::from_u32).collect(),
        "\u{200f}\u{202e}\u{2028}\u{feff}\u{fffe}\u{ffff}\u{10ffff}".into(),
        "x".repeat(10_000),
    ];
    for text in &texts {
        for value in [0.0, 0.5, 5e-324, f64::MAX, f64::INFINITY, f64::NAN] {
            for queries in [1, 3] {
                let page = document(text, queries, value).page();
                checked(&page.html(), |root| assert_eq!(tags(root, "script"), 0));
                for svg in page.figures() {
                    roxmltree::Document::parse(&svg).unwrap();
                }
            }
        }
    }
}

#[test]
fn weak_guarantees_are_said_in_every_figure_and_table() {
    let mut many_orders = document("x", 1, 0.5);
    let mut bounds = many_orders.answer.bounds.clone();
    bounds.truncate(24);
    for order in 10..20 {
        let at_two = bounds.iter().filter(|row| row.order == 2.0).cloned();
        many_orders.answer.bounds.extend(at_two.map(|row| BoundRow { order: f64::from(order), ..row }));
    }
    for document in [document("x", 1, 0.5), document("x", 3, 0.5), many_orders] {
        let page = document.page();
        checked(&page.html(), |root| {
            let table = root.descendants().find(|node| node.has_tag_name("table")).unwrap();
            assert!(text_of(table).contains("heuristic") && text_of(table).contains("bayesian"));
        });
        for svg in page.figures() {
            assert!(svg.contains("heuristic") && svg.contains("bayesian"));
        }
    }
}

#[test]
fn three_hundred_queries_are_legible() {
    let page = document("first", 300, 0.5).page();
    let html = page.html();
    assert!(html.len() < 1_500_000, "{} bytes", html.len());
    checked(&html, |root| {
        assert!(text_of(root).contains("The largest 40 of 300 rows; 260 smaller ones are not shown here"));
        assert!(tags(root, "details") > 0);
    });
    for svg in page.figures() {
        assert!(svg.len() < 100_000, "{} bytes", svg.len());
    }
}

#[test]
fn pages_of_attacks_scores_and_claims_are_complete() {
    let desk = desk();
    let member = |model: usize, sample: usize| (model + sample) % 2;
    let shadow = (0..8).flat_map(|model| (0..10).map(move |sample| (model, sample))).map(|(model, sample)| {
        let score = 0.3 * ((7 * model + 3 * sample) % 11) as f64 + 2.0 * member(model, sample) as f64;
        format!("{model},{sample},0,{score},{}\n", member(model, sample))
    });
    let shadow = format!("model,sample,view,score,member\n{}", shadow.collect::<String>());
    let scores = (0..60).map(|i| format!("{},{}\n", f64::from(i % 7) + 3.0 * f64::from(i % 2), i % 2));
    let scores = format!("score,member\n{}", scores.collect::<String>());
    let outputs = (0..90).map(|i| format!("{},{}\n", ["s", "s_prime"][i % 2], i * 7 % 5));
    let outputs = format!("world,output\n{}", outputs.collect::<String>());
    let studies = "[[study]]\ncommand = 'audit counts'\nfile = 'a.csv'\n".to_owned();
    for (name, text) in
        [("shadow.csv", shadow), ("scores.csv", scores), ("outputs.csv", outputs), ("studies.toml", studies)]
    {
        desk.file(name, text);
    }
    for (arguments, status, figures) in [
        ("membership lira shadow.csv --resamples 100", 0, 2),
        ("audit scores scores.csv", 0, 1),
        ("audit scores scores.csv --one-run", 0, 0),
        ("verify --accountant broken:gnmax-half --property rdp-covers-exact --cases 200", 3, 0),
        ("verify --accountant list", 0, 0),
        ("self-check audit counts a.csv --repetitions 4", 0, 0),
        ("audit stream outputs.csv", 0, 0),
        ("audit counts a.csv --format json --output result.json", 0, 1),
        ("rerun result.json", 0, 0),
        ("run studies.toml", 0, 0),
    ] {
        desk.run(&format!("{arguments} --report page.html")).printed(status);
        checked(&desk.text("page.html"), |root| {
            assert!(tags(root, "svg") >= figures && tags(root, "table") >= 1, "{arguments}");
            let text = text_of(root);
            assert!(!text.contains("NaN") && text.contains("Inputs and options"), "{arguments}");
            // Only the texts of other studies stay as they are.
            assert_eq!(tags(root, "pre"), usize::from(arguments.starts_with("run ")), "{arguments}");
        });
    }
}
