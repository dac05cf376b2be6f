//! The command as its user sees it: text, JSON, CSV, files, exit statuses.
#![cfg(feature = "cli")]

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Output;

const COUNTS: &str = "validation/data/counts.csv";
const PROMPT: &str = "validation/data/prompt_votes.npz";
const FASHION: &str = "validation/data/fashion_votes.npz";

/// Runs `leakbound` with words separated by blanks, in the root of the repository.
fn run(arguments: &str) -> Output {
    command(arguments).output().unwrap()
}

fn command(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leakbound"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env_remove("NO_COLOR").args(arguments.split_whitespace());
    command
}

/// Stdout of a run that ends with 0 and says nothing else.
fn stdout(arguments: &str) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments}");
    String::from_utf8(output.stdout).unwrap()
}

fn json(arguments: &str) -> Value {
    serde_json::from_str(&stdout(&format!("{arguments} --format json"))).unwrap()
}

/// The fields of every line of a CSV, the header first.
fn csv(arguments: &str) -> Vec<Vec<String>> {
    let text = stdout(&format!("{arguments} --format csv"));
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
    reader.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect()
}

fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) if text == "inf" => f64::INFINITY,
        value => value.as_f64().unwrap_or_else(|| panic!("{value} is no number")),
    }
}

fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value} is no array"))
}

/// Every row has every one of these members.
fn have(rows: &[Value], names: &[&str]) {
    assert!(!rows.is_empty(), "no rows with {names:?}");
    for row in rows {
        for name in names {
            assert!(row.get(name).is_some_and(|value| !value.is_null()), "{name} is missing in {row}");
        }
    }
}

/// The examples on which the forms are compared.
const EXACT: &str =
    "exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise gaussian:2 --orders 2,10 --epsilons 0.1,1";
const VOTES: &str = "audit votes validation/data/prompt_votes.npz --model prompt-pate --noise gaussian:40 --samples 1e5 --queries 0,1,2 --orders 2,8";
const CONFUSION: &str = "audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --delta 1e-5";

#[test]
fn exact_text() {
    insta::assert_snapshot!(stdout(EXACT), @r"
    Noisy argmax with gaussian:2 noise
    histogram 14,12,10,8,6
    neighbour 13,13,10,8,6

      class                     P                     Q                 ln P                 ln Q
      ─────────────────────────────────────────────────────────────────────────────────────────────
          0     0.725072624332703     0.469361676047780   -0.321483457650907   -0.756381643449271
          1     0.222155515073695     0.469361676047780    -1.50437762400833   -0.756381643449271
          2    0.0463940302708682    0.0537403730696977    -3.07058448598250    -2.92359073369575
          3   0.00595012012195728   0.00702356067725816    -5.12434387106414    -4.95848497055384
          4   4.27710200776447e-4   5.12714157484807e-4    -7.75706469270849    -7.57579206597130

    Rényi divergence in nats; the accountants bound D(P‖Q) from above
      order α              D(P‖Q)              D(Q‖P)   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            2   0.239564145745804   0.312352841854614               0.500000                 0.500000           0.325857
           10   0.399220743846952   0.664022700391515                2.50000                  2.50000            2.29550

    Privacy profile: the smallest δ at each ε
        ε         δ, P over Q         δ, Q over P
      ─────────────────────────────────────────────
      0.1   0.206347749905454   0.226796583781866
        1                   0                   0
    ");
}

#[test]
fn exact_text_of_the_worst_neighbour() {
    insta::assert_snapshot!(
        stdout("exact --histogram 14,12,10,8,6 --worst-neighbor moved --noise gaussian:2 --orders 2,10 --epsilons 0.1,1"),
        @r"
        Noisy argmax with gaussian:2 noise
        histogram 14,12,10,8,6
        worst of 20 neighbours; laws are those of the worst change, first order

          class                     P                     Q                 ln P                 ln Q
          ─────────────────────────────────────────────────────────────────────────────────────────────
              0     0.725072624332703     0.893694619565266   -0.321483457650907   -0.112391151016555
              1     0.222155515073695    0.0721531287014547    -1.50437762400833    -2.62896463085692
              2    0.0463940302708682    0.0302429116181826    -3.07058448598250    -3.49849344863572
              3   0.00595012012195728   0.00365872245223339    -5.12434387106414    -5.61064124927019
              4   4.27710200776447e-4   2.50617662863795e-4    -7.75706469270849    -8.29158203568840

        Rényi divergence in nats; the accountants bound D(P‖Q) from above
          order α              D(P‖Q)              D(Q‖P)   worst P‖Q   worst Q‖P   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case
          ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
                2   0.302950835564604   0.312352841854614       1 → 0       0 → 1               0.500000                 0.500000           0.325857
               10    1.62938674902069    1.41267345937468       4 → 0       0 → 4                2.50000                  2.50000            2.29550

        Privacy profile: the smallest δ at each ε
            ε          δ, P over Q          δ, Q over P
          ───────────────────────────────────────────────
          0.1    0.206347749905454    0.226796583781866
            1   0.0260229764580637   0.0221268188371491
        "
    );
}

#[test]
fn exact_text_with_laplace_noise() {
    insta::assert_snapshot!(
        stdout("exact --histogram 14,12,10,8,6 --neighbor 13,13,10,8,6 --noise laplace:2 --orders 2,10 --epsilons 0.1,1"),
        @r"
        Noisy argmax with laplace:2 noise
        histogram 14,12,10,8,6
        neighbour 13,13,10,8,6

          class                     P                    Q                 ln P                 ln Q
          ────────────────────────────────────────────────────────────────────────────────────────────
              0     0.649518482584630    0.437859323975037   -0.431523986641061   -0.825857598333621
              1     0.235175932169026    0.437859323975037    -1.44742139740698   -0.825857598333621
              2    0.0783271995278915   0.0844052326564061    -2.54686036047126    -2.47212588100339
              3    0.0271881601967489   0.0293164206463533    -3.60497368732925    -3.52960748832611
              4   0.00979022552170343   0.0105596987471668    -4.62637078678028    -4.55071052884136

        Rényi divergence in nats; the accountants bound D(P‖Q) from above
          order α              D(P‖Q)              D(Q‖P)   lnmax-data-dependent   lnmax-data-independent
          ─────────────────────────────────────────────────────────────────────────────────────────────────
                2   0.179638515846255   0.218615220311269               0.400608                 0.400608
               10   0.346679291154166   0.530043797277209               0.857381                 0.857381

        Privacy profile: the smallest δ at each ε
            ε         δ, P over Q         δ, Q over P
          ─────────────────────────────────────────────
          0.1   0.165609091519156   0.177949723110498
            1                   0                   0
        "
    );
}

#[test]
fn counts_text() {
    insta::assert_snapshot!(stdout(&format!("audit counts {COUNTS}")), @"
    Audit of validation/data/counts.csv (1 query); forward is D(P‖Q) with P the column count

    Rényi divergence in nats, at least
      method              direction      α = 2     α = 4     α = 8    α = 16    α = 32    α = 64        validity
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────
      k-cut-variational   forward     0.064146   0.11436   0.17321   0.21658   0.23845   0.24216   finite-sample
      k-cut-variational   reverse     0.068195   0.12964   0.20919   0.26970   0.30074   0.31395   finite-sample

    Differential privacy, at least
      method            direction      δ   ε at least        validity
      ─────────────────────────────────────────────────────────────────
      clopper-pearson   forward     1e-5     0.259471   finite-sample
      clopper-pearson   reverse     1e-5     0.331098   finite-sample

    output set 1: {9} (pilot, two tails)
    output set 2: {0, 9} (pilot, two tails)
    output set 3: {0, 7, 9} (pilot, two tails)
    output set 4: {0, 2, 3, 4, 5, 6, 7, 9} (pilot, two tails)
    output set 5: {0, 2, 3, 4, 5, 6, 7, 8, 9} (pilot, two tails)
    k-cut-variational: expected to certify 92 % of the divergence if the pilot is right; next two-cut-half-space with 89 %

    Samples per world to certify D, if it is as it looks, at α = 2, forward
           D   method              half of D   nine tenths
      ──────────────────────────────────────────────────────
      0.0715   k-cut-variational       1.3e3         3.0e4

    warning: 0.1 of the outputs were set aside as a pilot, and not bounded (hint: choose yourself: --pilot-fraction F, --pilot FILE, --law FILE or --methods NAME)
    ");
}

#[test]
fn counts_text_with_a_pilot() {
    insta::assert_snapshot!(stdout(&format!("audit counts {COUNTS} --pilot-fraction 0.1")), @"
    Audit of validation/data/counts.csv (1 query); forward is D(P‖Q) with P the column count

    Rényi divergence in nats, at least
      method              direction      α = 2     α = 4     α = 8    α = 16    α = 32    α = 64        validity
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────
      k-cut-variational   forward     0.064146   0.11436   0.17321   0.21658   0.23845   0.24216   finite-sample
      k-cut-variational   reverse     0.068195   0.12964   0.20919   0.26970   0.30074   0.31395   finite-sample

    Differential privacy, at least
      method            direction      δ   ε at least        validity
      ─────────────────────────────────────────────────────────────────
      clopper-pearson   forward     1e-5     0.259471   finite-sample
      clopper-pearson   reverse     1e-5     0.331098   finite-sample

    output set 1: {9} (pilot, two tails)
    output set 2: {0, 9} (pilot, two tails)
    output set 3: {0, 7, 9} (pilot, two tails)
    output set 4: {0, 2, 3, 4, 5, 6, 7, 9} (pilot, two tails)
    output set 5: {0, 2, 3, 4, 5, 6, 7, 8, 9} (pilot, two tails)
    k-cut-variational: expected to certify 92 % of the divergence if the pilot is right; next two-cut-half-space with 89 %

    Samples per world to certify D, if it is as it looks, at α = 2, forward
           D   method              half of D   nine tenths
      ──────────────────────────────────────────────────────
      0.0715   k-cut-variational       1.3e3         3.0e4
    ");
}

#[test]
fn confusion_text() {
    insta::assert_snapshot!(stdout(CONFUSION), @"
    Confusion matrix of an attack: TP 90, FN 10, FP 5, TN 95; forward is members against non-members

    Rényi divergence in nats, at least
      method           direction    α = 2    α = 4    α = 8   α = 16   α = 32   α = 64        validity
      ──────────────────────────────────────────────────────────────────────────────────────────────────
      two-cut-corner   forward     1.7999   1.9234   1.9603   1.9751   1.9817   1.9849   finite-sample
      two-cut-corner   reverse     1.5000   1.5764   1.5992   1.6083   1.6124   1.6144   finite-sample

    Differential privacy, at least
      method            direction      δ   ε at least        validity
      ─────────────────────────────────────────────────────────────────
      clopper-pearson   forward     1e-5      1.98796   finite-sample
      clopper-pearson   reverse     1e-5      1.61627   finite-sample

    output set 1: {positive} (declared, two tails)
    two-cut-corner: there is one output set

    Samples per world to certify D, if it is as it looks, at α = 2, forward
         D   method           half of D   nine tenths
      ─────────────────────────────────────────────────
      2.60   two-cut-corner          50         1.3e3
    ");
}

#[test]
fn prompt_votes_text() {
    insta::assert_snapshot!(stdout(VOTES), @"
    Audit of validation/data/prompt_votes.npz: prompt-pate, fixed votes, 10 classes, gaussian:40 noise, 3 queries
    1e5 outputs simulated per query and world, seed 0; failure probability 0.05 per query and method

    Rényi divergence of order 2, forward, per query (nats)
      query   label   k-cut-region     exact   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case   lower/exact   ε at least
      ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
          0       4        1.48e-4   5.72e-4                0.00125                  0.00125            8.00e-4        25.8 %      0.00318
          1       9              0   4.18e-7                1.66e-5                  0.00125            8.00e-4         0.0 %            0
          2       2        3.61e-4   7.65e-4                0.00125                  0.00125            8.00e-4        47.2 %       0.0155
      leakage certified in 2 of 3 queries

    Mean over the queries, forward, per order (nats)
      order α   k-cut-region      exact   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case   lower/exact
      ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
            2       1.695e-4   4.458e-4               8.389e-4                 0.001250           8.001e-4        38.0 %
            8       6.823e-4   0.001810               0.003341                 0.005000           0.003204        37.7 %

    Composed: one answer to each of 3 queries (independent). The sum of the lower bounds is a bound: the outputs are independent under both datasets, so divergences add.
      curve                    RDP is      α = 2      α = 8   ε at δ = 1e-5   ε is
      ──────────────────────────────────────────────────────────────────────────────────────
      lower-sum                bound    3.776e-4   0.001519         0.02185   illustrative
      lower-joint              bound    5.124e-4   0.001948        0.001938   illustrative
      exact-sum                bound    0.001338   0.005429         0.07847   bound
      gnmax-data-dependent     bound    0.002517    0.01002          0.1914   bound
      gnmax-data-independent   bound    0.003750    0.01500          0.2210   bound
      gnmax-worst-case         bound    0.002400   0.009612          0.1851   bound
    ");
}

#[test]
fn pate_votes_text() {
    insta::assert_snapshot!(
        stdout(&format!("audit votes {FASHION} --model pate --noise gaussian:40 --queries 18,32 --samples 1e5")),
        @"
        Audit of validation/data/fashion_votes.npz: pate, pois-advq, k = 250 teachers, 10 classes, gaussian:40 noise, 2 queries
        1e5 outputs simulated per query and world, seed 0; failure probability 0.05 per query and method

        Rényi divergence of order 2, forward, per query (nats)
          query   label   k-cut-region     exact   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case   lower/exact   ε at least
          ──────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
             18       4              0   1.78e-4                0.00125                  0.00125            8.00e-4         0.0 %            0
             32       9              0   2.67e-7                1.53e-5                  0.00125            8.00e-4         0.0 %            0
          leakage certified in 0 of 2 queries

        Mean over the queries, forward, per order (nats)
          order α   k-cut-region      exact   gnmax-data-dependent   gnmax-data-independent   gnmax-worst-case   lower/exact
          ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
                2              0   8.907e-5               6.327e-4                 0.001250           8.001e-4         0.0 %
                4              0   1.774e-4               0.001258                 0.002500           0.001600         0.0 %
                8              0   3.519e-4               0.002510                 0.005000           0.003204         0.0 %
               16              0   6.902e-4               0.005018                  0.01000           0.006433         0.0 %
               32              0   0.001317                0.01010                  0.02000            0.01308         0.0 %
               64              0   0.002338                0.02547                  0.04000            0.02817         0.0 %

        Composed: one answer to each of 2 queries (shared-teachers). The sum of the lower bounds is illustrative: teachers trained once make the answers dependent, and a sum can overstate what they leak together; the largest single query bounds it.
          curve                    RDP is            α = 2      α = 4      α = 8     α = 16     α = 32     α = 64   ε at δ = 1e-5   ε is
          ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
          lower-sum                illustrative          0          0          0          0          0          0               0   illustrative
          lower-largest-query      bound                 0          0          0          0          0          0               0   illustrative
          exact-sum                illustrative   1.781e-4   3.549e-4   7.037e-4   0.001380   0.002633   0.004676         0.01172   illustrative
          gnmax-data-dependent     illustrative   0.001265   0.002517   0.005021    0.01004    0.02020    0.05095          0.1519   illustrative
          gnmax-data-independent   bound          0.002500   0.005000    0.01000    0.02000    0.04000    0.08000          0.1775   bound
          gnmax-worst-case         bound          0.001600   0.003201   0.006408    0.01287    0.02617    0.05634          0.1523   bound

        warning: bounds and exact values hold for the model fitted to the recorded votes, not for the training itself (hint: record more instantiations to see how much the fit matters)
        "
    );
}

#[test]
fn long_histograms_are_shortened_in_text_only() {
    let histogram = (0..10_000).map(|class| (class % 97).to_string()).collect::<Vec<_>>().join(",");
    let arguments = format!("exact --histogram {histogram} --neighbor {histogram} --noise gaussian:20 --orders 2");
    let text = stdout(&arguments);
    assert!(text.lines().all(|line| line.chars().count() < 200), "{}", &text[..500]);
    assert!(text.contains("... (10000 classes)") && text.contains("(9960 more classes in --format json)"));
    assert_eq!(rows(&json(&arguments)["outcomes"]).len(), 10_000);
}

#[test]
fn numbers_far_from_1_are_short() {
    let text = stdout("exact --histogram 5,3 --neighbor 4,4 --noise laplace:1e300 --orders 1e250");
    assert!(text.contains("laplace:1e300") && text.contains(" 1e250 "), "{text}");
}

/// Schema, version, options with defaults, seed, warnings, and inputs with name, size and hash.
#[test]
fn documents_say_how_they_were_made() {
    let votes = format!("{VOTES} --seed 3");
    let counts = format!("audit counts {COUNTS}");
    for (arguments, schema, inputs) in [
        (EXACT, "leakbound.exact/1", vec![]),
        (&counts, "leakbound.audit-counts/1", vec![COUNTS]),
        (CONFUSION, "leakbound.audit-confusion/1", vec![]),
        (&votes, "leakbound.audit-votes/1", vec![PROMPT]),
    ] {
        let document = json(arguments);
        assert_eq!(document["schema"], schema);
        assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(document["seed"], if schema.contains("votes") { 3 } else { 0 });
        let names: Vec<&str> = rows(&document["inputs"]).iter().map(|input| input["name"].as_str().unwrap()).collect();
        assert_eq!(names, inputs);
        for input in rows(&document["inputs"]) {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(input["name"].as_str().unwrap());
            assert_eq!(input["size"], fs::metadata(path).unwrap().len());
            let hash = input["sha256"].as_str().unwrap();
            assert!(hash.len() == 64 && hash.chars().all(|digit| digit.is_ascii_hexdigit()), "{hash}");
        }
        let options = &document["options"];
        assert_eq!((&options["format"], &options["quiet"]), (&"json".into(), &false.into()));
        let claims = options.get("claims").unwrap_or(&options["bound"]["claims"]);
        assert_eq!(number(&claims["delta"]), 1e-5);
        have(std::slice::from_ref(options), if schema.contains("exact") { &["orders", "noise"] } else { &["bound"] });
        for warning in rows(&document["warnings"]) {
            have(std::slice::from_ref(warning), &["code", "message", "hint"]);
        }
        rows(&document["claims"]);
    }
    let options = &json(VOTES)["options"];
    assert_eq!(options["bound"]["failure_probability"], 0.05);
    assert_eq!(options["bound"]["direction"], "both");
    assert_eq!(options["bound"]["methods"], "auto");
    assert_eq!(options["adversary"], "pois-advq");
    assert_eq!(options["samples"], 100_000);
    let warnings = &json(&format!("audit counts {COUNTS} --methods all"))["warnings"];
    assert_eq!(warnings[0]["code"], "fixed-list");
    assert_eq!(warnings[1]["code"], "methods-skipped");
}

#[test]
fn the_documented_members_are_there() {
    let exact = json(EXACT);
    have(rows(&exact["outcomes"]), &["label", "p", "log_p", "q", "log_q"]);
    have(rows(&exact["divergences"]), &["order", "forward", "reverse"]);
    have(rows(&exact["hockey_stick"]), &["epsilon", "delta_forward", "delta_reverse"]);
    have(rows(&exact["accountants"]), &["name", "order", "rdp"]);
    let names = |value: &Value| -> Vec<String> {
        let mut names: Vec<String> = rows(value).iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect();
        names.dedup();
        names
    };
    assert_eq!(names(&exact["accountants"]), ["gnmax-data-dependent", "gnmax-data-independent", "gnmax-worst-case"]);

    let bound = ["query", "method", "direction", "order", "rdp_lower", "failure_probability", "validity"];
    let epsilon = ["query", "method", "direction", "delta", "epsilon_lower", "failure_probability", "validity"];
    for arguments in [CONFUSION, &format!("audit counts {COUNTS}")] {
        let counts = json(arguments);
        have(rows(&counts["bounds"]), &bound);
        have(rows(&counts["epsilon"]), &epsilon);
    }

    let votes = json(VOTES);
    have(rows(&votes["queries"]), &["query", "label", "lower", "exact", "upper"]);
    for query in rows(&votes["queries"]) {
        have(rows(&query["lower"]), &bound);
        have(rows(&query["epsilon"]), &epsilon);
        have(rows(&query["exact"]), &["order", "forward", "reverse"]);
        have(rows(&query["upper"]), &["name", "order", "rdp"]);
    }
    assert_eq!(votes["composed"]["meaning"], "bound");
    have(rows(&votes["composed"]["curves"]), &["name", "direction", "values", "meaning", "epsilon"]);
    let shared = json(&format!("{VOTES} --composition shared-teachers"));
    assert_eq!(shared["composed"]["meaning"], "illustrative");
    assert_eq!(json(&format!("{VOTES} --composition per-query"))["composed"], Value::Null);
}

#[test]
fn infinity_is_a_word_and_numbers_round_trip() {
    // Fixed votes whose neighbour differs in two classes, and orders beyond any accountant.
    let document = json("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1e-16 --orders 2,1e280");
    assert_eq!(document["accountants"][0]["rdp"], 2.0 / 1e-16 / 1e-16);
    assert_eq!(document["accountants"][1]["rdp"], "inf");
    assert!(
        csv("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1e-16 --orders 1e280")
            .iter()
            .any(|row| row[0] == "gnmax-data-dependent" && row[2] == "inf")
    );
    for arguments in [EXACT, VOTES, CONFUSION] {
        let text = stdout(&format!("{arguments} --format json"));
        let again = serde_json::to_string_pretty(&serde_json::from_str::<Value>(&text).unwrap()).unwrap() + "\n";
        // The members are sorted when they are read: numbers are compared as a sorted list of texts.
        let numbers = |text: &str| {
            let mut numbers: Vec<String> = text.split([' ', ',', '\n']).map(str::to_owned).collect();
            numbers.sort();
            numbers
        };
        assert_eq!(numbers(&again), numbers(&text));
        assert!(!text.contains("NaN") && !text.contains("-0.0"), "{arguments}");
    }
}

#[test]
fn lower_exact_and_upper_values_are_in_order() {
    for arguments in
        [VOTES, &format!("audit votes {FASHION} --model pate --noise gaussian:40 --queries 18,32 --samples 1e5")]
    {
        let document = json(arguments);
        for query in rows(&document["queries"]) {
            for exact in rows(&query["exact"]) {
                let order = &exact["order"];
                let upper = |name: &str| {
                    let row = rows(&query["upper"]).iter().find(|row| row["name"] == name && &row["order"] == order);
                    number(&row.unwrap()["rdp"])
                };
                let (dependent, independent) = (upper("gnmax-data-dependent"), upper("gnmax-data-independent"));
                assert!(number(&exact["forward"]) <= dependent && dependent <= independent, "{query}");
                assert!(number(&exact["reverse"]) <= independent, "{query}");
                // These runs are of fixed seeds: here no bound happens to be wrong.
                for lower in rows(&query["lower"]).iter().filter(|lower| &lower["order"] == order) {
                    let direction = lower["direction"].as_str().unwrap();
                    assert!(number(&lower["rdp_lower"]) <= number(&exact[direction]), "{lower} {exact}");
                }
            }
        }
        let curves = rows(&document["composed"]["curves"]);
        let values = |name: &str| -> Vec<f64> {
            let curve = curves.iter().find(|curve| curve["name"] == name && curve["direction"] == "forward");
            rows(&curve.unwrap()["values"]).iter().map(number).collect()
        };
        let names = ["lower-sum", "exact-sum", "gnmax-data-dependent", "gnmax-data-independent"];
        for pair in names.windows(2) {
            let (below, above) = (values(pair[0]), values(pair[1]));
            assert!(below.iter().zip(&above).all(|(below, above)| below <= above), "{pair:?}");
        }
    }
    let exact = json(EXACT);
    for (divergence, accountant) in rows(&exact["divergences"]).iter().zip(rows(&exact["accountants"])) {
        assert!(number(&divergence["forward"]) <= number(&accountant["rdp"]));
    }
}

#[test]
fn csv_is_one_table() {
    for arguments in [EXACT, VOTES, CONFUSION, &format!("audit counts {COUNTS}")] {
        let table = csv(arguments);
        assert!(table.len() > 5 && table.iter().all(|row| row.len() == table[0].len()), "{arguments}: {table:?}");
        assert_eq!(table.iter().filter(|row| **row == table[0]).count(), 1, "{arguments}");
        assert!(table[0].iter().all(|name| name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')));
    }
}

#[test]
fn all_forms_hold_the_same_values() {
    let value = number(&json(EXACT)["divergences"][0]["forward"]);
    let row = csv(EXACT).into_iter().find(|row| row[0] == "renyi" && row[1] == "2").unwrap();
    assert_eq!(row[2].parse::<f64>().unwrap(), value);
    assert!(stdout(EXACT).contains(&format!("{value:.15}")), "{value}");

    let value = number(&json(CONFUSION)["epsilon"][0]["epsilon_lower"]);
    let row = csv(CONFUSION).into_iter().find(|row| row[1] == "epsilon" && row[3] == "forward").unwrap();
    assert_eq!(row[6].parse::<f64>().unwrap(), value);
    assert!(stdout(CONFUSION).contains(&format!("{value:.5}")), "{value}");

    let value = number(&json(VOTES)["queries"][0]["exact"][0]["forward"]);
    let row = csv(VOTES).into_iter().find(|row| row[0] == "0" && row[1] == "exact").unwrap();
    assert_eq!(row[6].parse::<f64>().unwrap(), value);
    assert!(stdout(VOTES).contains(&format!("{value:.2e}")), "{value}");
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    let counts = |more: &str| {
        let document = json(&format!("{VOTES} {more}"));
        rows(&document["queries"]).iter().map(|query| query["counts"].to_string()).collect::<Vec<_>>()
    };
    let once = counts("--threads 1");
    assert_eq!(once, counts("--threads 2"));
    assert_eq!(once, counts("--seed 0"));
    assert_ne!(once, counts("--seed 1"));
    // A query keeps its samples in other company.
    let alone = json(&VOTES.replace("0,1,2", "2"));
    assert_eq!(alone["queries"][0]["counts"].to_string(), once[2]);
    let pilot = |seed: u64| stdout(&format!("audit counts {COUNTS} --pilot-fraction 0.1 --format csv --seed {seed}"));
    assert_eq!(pilot(5), pilot(5));
    assert_ne!(pilot(5), pilot(6));
}

#[test]
fn a_file_holds_what_stdout_would() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result");
    for format in ["text", "json", "csv"] {
        let arguments = format!("{EXACT} --format {format}");
        let file = command(&arguments).arg("--output").arg(&path).output().unwrap();
        assert_eq!((file.status.code(), &*file.stdout, &*file.stderr), (Some(0), &b""[..], &b""[..]));
        let written = fs::read_to_string(&path).unwrap();
        if format == "json" {
            // The options tell where the result went.
            assert_eq!(written.lines().count(), stdout(&arguments).lines().count());
        } else {
            assert_eq!(written, stdout(&arguments));
        }
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_failure_leaves_the_old_result() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result");
    fs::write(&path, "old").unwrap();
    for arguments in [
        "audit counts no/such/file.csv",
        "audit votes validation/data/counts.csv --model pate --noise gaussian:1",
        "exact --histogram 5 --worst-neighbor moved --noise gaussian:1",
    ] {
        let output = command(arguments).arg("--output").arg(&path).output().unwrap();
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old", "{arguments}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{arguments}");
    }
    let output = command(EXACT).arg("--output").arg(path.join("inside")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "a file is no folder");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
}

/// Root may write anywhere; then there is nothing to see.
#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_to_is_left_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("result");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let writable = fs::write(folder.path().join("probe"), "").is_ok();
    let output = command(EXACT).arg("--output").arg(&path).output().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    if !writable {
        assert_eq!(output.status.code(), Some(1));
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    }
}

#[test]
fn claims_decide_the_status() {
    let counts = format!("audit counts {COUNTS}");
    for (arguments, claim, status) in [
        (EXACT, "--claim-epsilon 0.1", 3),
        (EXACT, "--claim-epsilon 5", 0),
        (EXACT, "--claim-rdp 2:0.2", 3),
        (EXACT, "--claim-rdp 2:0.32", 0),
        (EXACT, "--claim-mu 0.1", 3),
        (EXACT, "--claim-mu 2", 0),
        (&counts, "--claim-epsilon 0.1", 3),
        (&counts, "--claim-epsilon 5", 0),
        (&counts, "--claim-rdp 2:0.01", 3),
        (&counts, "--claim-rdp 2:0.5", 0),
        (&counts, "--claim-mu 0.01", 3),
        (&counts, "--claim-mu 5 --claim-rdp 2:5 --claim-rdp 4:5", 0),
        (&counts, "--claim-mu 5 --claim-rdp 2:5 --claim-rdp 4:0.01", 3),
        (CONFUSION, "--claim-epsilon 1", 3),
        (CONFUSION, "--claim-epsilon 2", 0),
        (VOTES, "--claim-epsilon 0.001", 3),
        (VOTES, "--claim-epsilon 1", 0),
        (VOTES, "--claim-rdp 2:1e-5", 3),
        (VOTES, "--claim-mu 0.001", 3),
        (VOTES, "--claim-mu 1", 0),
    ] {
        let output = run(&format!("{arguments} {claim}"));
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments} {claim}: {text}");
        assert_eq!(text.contains("REFUTED"), status == 3, "{text}");
        assert!(output.stderr.is_empty());
        let document = run(&format!("{arguments} {claim} --format json"));
        assert_eq!(document.status.code(), Some(status));
        let document: Value = serde_json::from_slice(&document.stdout).unwrap();
        have(rows(&document["claims"]), &["claim", "lower", "query", "refuted", "failure_probability"]);
        assert_eq!(rows(&document["claims"]).iter().any(|claim| claim["refuted"] == true), status == 3);
    }
}

/// The change that is worst at the first order is not the one that is worst at order 10 or at ε.
#[test]
fn claims_are_tested_on_every_neighbour_searched() {
    let worst = "exact --histogram 14,12,10,8,6 --worst-neighbor moved --noise gaussian:2 --orders 2,10";
    let document = json(worst);
    let [forward, reverse] = ["forward", "reverse"].map(|direction| number(&document["divergences"][1][direction]));
    let largest = forward.max(reverse);
    for (value, status) in [(largest * (1.0 - 1e-9), 3), (largest * (1.0 + 1e-9), 0)] {
        assert_eq!(run(&format!("{worst} --claim-rdp 10:{value}")).status.code(), Some(status), "{value}");
    }
    // A claim at an order that is not among --orders is searched as well.
    assert_eq!(run(&format!("{worst} --claim-rdp 64:1.7")).status.code(), Some(3));
}

#[test]
fn every_help_holds_an_example_that_runs() {
    for command in ["exact", "audit counts", "audit confusion", "audit votes", "completions", "man"] {
        let help = stdout(&format!("{command} --help"));
        let (_, example) = help.split_once("Example:\n").unwrap_or_else(|| panic!("{command}: {help}"));
        let words = example.split_whitespace().collect::<Vec<_>>().join(" ");
        let words = words.strip_prefix("leakbound ").unwrap_or_else(|| panic!("{example}"));
        assert!(words.starts_with(command), "{example}");
        let words = words.split(" > ").next().unwrap();
        let words = words.replace("fashion_votes.npz", FASHION).replace("counts.csv", COUNTS).replace("1e6", "1e3");
        assert!(!stdout(&words).is_empty(), "{words}");
    }
    assert!(stdout("--help").contains("Commands:"));
    assert!(stdout("audit --help").contains("confusion"));
    assert_eq!(stdout("--version"), format!("leakbound {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn completions_and_manual_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = stdout(&format!("completions {shell}"));
        assert!(
            ["exact", "audit", "worst-neighbor", "pilot-fraction"].iter().all(|word| script.contains(word)),
            "{shell}"
        );
    }
    let page = stdout("man");
    assert!(page.contains(".TH leakbound 1") && page.contains(".SH SYNOPSIS") && page.contains("audit"), "{page}");
}

/// As with `| head -1`: the reader has gone before anything is written.
#[test]
fn a_closed_stdout_is_no_panic() {
    for arguments in [EXACT, "man", "completions bash", "--help", "exact --help", "nonsense"] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_leakbound"));
        child.args(arguments.split_whitespace()).stdout(writer.try_clone().unwrap());
        let output = child.output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!stderr.contains("panicked"), "{arguments}: {stderr}");
        assert_eq!(output.status.code(), Some(if arguments == "nonsense" { 2 } else { 0 }), "{arguments}");
        let closed = child.stderr(writer).status().unwrap();
        assert_eq!(closed.code(), output.status.code(), "{arguments}");
    }
}
