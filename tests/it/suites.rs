//! Files of studies: what stands in them is used or rejected, before anything runs.

use crate::desk::Desk;

const EXACT: &str =
    "[[study]]\nname = 'votes'\ncommand = 'exact'\nhistogram = [3, 1]\nneighbor = [2, 2]\nnoise = 'gaussian:2'\n";
const COUNTS: &str = "[[study]]\ncommand = 'audit counts'\nfile = 'c.csv'\n";
const TABLE: &str = "outcome,count,count_neighbor\na,600,500\nb,400,500\n";

/// The line about a file of studies that nothing comes of, which says this.
fn rejected(text: &str, expected: &str) -> String {
    let desk = Desk::new();
    desk.file("c.csv", TABLE);
    desk.file("s.toml", text);
    let line = desk.rejected(1, "run s.toml");
    assert!(line.starts_with("s.toml: ") && line.contains(expected), "{text}: {line}");
    line
}

#[test]
fn no_value_is_ignored() {
    for (option, expected) in [
        ("claim-epsilon = nan", "invalid value 'nan' for '--claim-epsilon <E>': epsilon = NaN is not in [0, inf)"),
        ("claim-epsilon = +inf", "epsilon = inf is not in [0, inf)"),
        ("claim-epsilon = -inf", "epsilon = -inf is not in [0, inf)"),
        ("claim-epsilon = 1e999", "epsilon = inf is not in [0, inf)"),
        ("claim-epsilon = []", "`claim-epsilon = []`, which is not a list with at least one value"),
        ("claim-epsilon = {}", "`claim-epsilon = {}`, which is not a number, a text or a list"),
        ("claim-epsilon = true", "`claim-epsilon = true`, which is not a number, a text or a list"),
        ("claim-epsilon = false", "`claim-epsilon = false`, which is not a number, a text or a list"),
        ("claim-epsilon = ''", "found invalid value '' for '--claim-epsilon <E>': `` is not a number"),
        ("claim-epsilon = 2026-11-28", "line 7: found a date, expected a number, a text, a truth value or a list"),
        ("claim-epsilon = [1, 2]", "invalid value '1,2' for '--claim-epsilon"),
        ("claim-epsilon = [nan]", "invalid value 'nan' for '--claim-epsilon"),
        (
            "claim-epsilon = 1\nclaim_epsilon = 9",
            "line 8: found the key `claim-epsilon` a second time, first in line 7",
        ),
        ("claim-rdp = []", "`claim-rdp = []`, which is not a list with at least one value"),
        ("claim-rdp = {}", "`claim-rdp = {}`, which is not a table of orders and values with at least one of them"),
        ("claim-rdp = { 2 = nan }", "invalid value '2:nan' for '--claim-rdp"),
        ("claim-rdp = { 2 = [] }", "which is not a number or a text"),
        ("claim-rdp = { 2 = 2026-11-28 }", "line 7: found a date"),
        ("claim-rdp = [[]]", "invalid value '' for '--claim-rdp"),
        ("claim-rdp = [[2, 1, 3]]", "invalid value '2:1:3' for '--claim-rdp"),
        ("[study.claim-rdp.deep]\n2 = 1", "which is not a number or a text"),
        ("epsilons = []", "`epsilons = []`, which is not a list with at least one value"),
        ("epsilons = [0.1, nan]", "invalid value 'nan' for '--epsilons"),
        ("epsilons = ['0.1,0.2']", "which is not a list of values without separators in them"),
        ("orders = []", "`orders = []`, which is not"),
        ("deltas = [[1e-5]]", "which is not a number or a text"),
        ("trade-off = true", "found the option `trade-off`, which it does not have"),
        ("claim-answer-rdp = { 2 = 1 }", "found the option `claim-answer-rdp`, which it does not have"),
        ("help = true", "found the option `help`, which it does not have"),
        ("version = true", "found the option `version`, which it does not have"),
        ("seed = -0.5", "invalid value '-0.5' for '--seed <N>'"),
        ("output = []", "`output = []`, which is not"),
        ("output = ''", "which is not a path"),
        ("output = 5", "`output = 5`, which is not a path, as a text"),
        ("output = ['a.txt']", "which is not one path, as a text"),
        ("threads = 2", "found the option `threads`, expected --threads of `leakbound run`"),
        ("quiet = true", "found the option `quiet`, expected --quiet of `leakbound run`"),
        ("format = 'csv'", "found `format` alone, expected the form of a file, with `output`"),
    ] {
        let line = rejected(&format!("{EXACT}{option}\n"), expected);
        // Which study it is, where the option is known to be one.
        assert!(line.contains("study `votes` from line 1: ") || line.starts_with("s.toml: line "), "{option}: {line}");
    }
    for (option, expected) in [
        ("trade-off = 'false'", "`trade-off = \"false\"`, which is not true or false"),
        ("trade-off = 1", "`trade-off = 1`, which is not true or false"),
        ("trade-off = []", "`trade-off = []`, which is not true or false"),
        ("claim-mu = nan", "mu = NaN is not in [0, inf)"),
        ("pilot-fraction = nan", "pilot fraction = NaN is not in (0, 1)"),
    ] {
        let line = rejected(&format!("{COUNTS}{option}\n"), expected);
        assert!(line.contains("study `audit counts 1` from line 1: "), "{option}: {line}");
    }
}

#[test]
fn values_that_can_be_used_are() {
    let desk = Desk::new();
    desk.file("c.csv", TABLE);
    // A flag that is off, a name that needs quotes, a negative zero, numbers in every form, a default.
    let studies = format!(
        "{EXACT}claim-rdp = [[2, 9], [4.0, 9e0]]\nclaim-epsilon = 0x9\ndeltas = [1e-5]\norders = '2..4'\n\
         [[study]]\nname = 'of \"quotes\" and ü'\ncommand = 'audit counts'\nfile = './c.csv'\ntrade_off = false\n\
         claim-epsilon = -0.0\nfailure-per = 'answer'\nseed = 0\n"
    );
    desk.file("s.toml", studies);
    let document = desk.answer(3, "run s.toml");
    let [first, second] = [0, 1].map(|study| &document["studies"][study]);
    assert_eq!((&first["outcome"], &second["outcome"]), (&"passed".into(), &"refuted".into()));
    assert_eq!(first["document"]["claims"].as_array().unwrap().len(), 3);
    assert_eq!(second["name"], "of \"quotes\" and ü");
    assert_eq!(second["document"]["options"]["trade_off"], false);
}

/// A seed that is given overrules a scenario's, and 0 is one.
#[test]
fn the_seed_is_the_one_that_is_written() {
    let desk = Desk::new();
    desk.file("p.toml", "samples = 1000\nseed = 5\nmodel = 'prompt-pate'\nnoise = 'gaussian:2'\nhistogram = [3, 1]\nhistogram_neighbor = [2, 2]\n");
    desk.file("s.toml", "[[study]]\ncommand = 'simulate'\nscenario = 'p.toml'\nseed = 0\n[[study]]\ncommand = 'simulate'\nscenario = 'p.toml'\n");
    let document = desk.json("run s.toml");
    let seed = |study: usize| document["studies"][study]["document"]["seed"].clone();
    assert_eq!((seed(0), seed(1)), (0.into(), 5.into()));
    // The document has the seed, so that anyone can repeat it.
    desk.stdout("simulate p.toml --seed 0 --format json --output d.json");
    assert!(desk.stdout("rerun d.json").contains("\nidentical: all "));
}

#[test]
fn files_of_studies_are_whole() {
    for (text, expected) in [
        ("", "s.toml: whole file: found no study, expected at least one table [[study]]; hint: a study is"),
        ("# nothing\n", "found no study"),
        ("study = []\n", "found no study"),
        ("[study]\ncommand = 'exact'\n", "line 1, study: found another value, expected tables [[study]]"),
        ("study = 3\n", "line 1, study: found another value"),
        ("study = [3]\n", "found a list of other values"),
        ("[[study]]\nname = 'a'\n", "line 1: found a study without `command`, expected the key `command`"),
        ("[[study]]\ncommand = 3\n", "line 2, command: found 3, expected a text"),
        ("[[study]]\ncommand = nan\n", "line 2, command: found \"nan\", expected a text"),
        ("[[study]]\ncommand = ''\n", "the command ``, which goes on with one of"),
        ("[[study]]\ncommand = 'exact --histogram 3,1'\n", "the command `exact --histogram 3,1`"),
        ("[[study]]\ncommand = 'help'\n", "study `help 1` from line 1"),
        ("[[study]]\ncommand = 'schema'\n", "a command that prints a text and has no document"),
        (
            "[[study]]\nname = ''\ncommand = 'exact'\n",
            "line 2, name: found an empty field, expected a name on one line",
        ),
        ("[[study]]\nname = ['a']\ncommand = 'exact'\n", "line 2, name: found [\"a\"], expected a text"),
        ("[[study]]\nname = nan\ncommand = 'exact'\n", "line 2, name: found \"nan\", expected a text"),
        ("seed = 3\n[[study]]\ncommand = 'exact'\n", "line 1: found the key `seed`, expected one of `study`"),
        ("[[study]]\nCommand = 'exact'\n", "a study without `command`"),
        ("[[study]]\ncommand = 'exact'\ncommand = 'exact'\n", "line 3: found duplicate key"),
    ] {
        rejected(text, expected);
    }
    let twice = EXACT.to_owned() + &EXACT.replace("'votes'", "\"votes\"");
    rejected(&twice, "line 7: found the name `votes` a second time, first in line 1");
    // Also where one has no name of its own.
    let unnamed = EXACT.replace("'votes'", "'exact 2'") + "[[study]]\ncommand = 'exact'\n";
    rejected(&unnamed, "found the name `exact 2` a second time");
}

#[cfg(unix)]
#[test]
fn no_result_replaces_another() {
    let desk = Desk::new();
    desk.file("c.csv", TABLE);
    std::fs::create_dir(desk.path("sub")).unwrap();
    std::fs::create_dir(desk.path("figures")).unwrap();
    std::os::unix::fs::symlink(desk.path("sub"), desk.path("link")).unwrap();
    let study = |name: &str, more: &str| format!("{}{more}\n", EXACT.replace("'votes'", &format!("'{name}'")));
    let pair = |first: &str, second: &str| study("one", first) + &study("two", second);
    let fails = |text: &str, words: &str, expected: &str| {
        desk.file("s.toml", text);
        let before = desk.names();
        let line = desk.run(&format!("run s.toml {words}")).line(1);
        assert!(line.contains(expected), "{text}: {line}");
        assert_eq!(desk.names(), before, "{text}");
    };
    for (first, other, option) in [
        ("output = 'a'", "output = 'a'", "output"),
        ("output = 'a'", "output = './a'", "output"),
        ("output = 'a'", "output = 'sub/../a'", "output"),
        ("output = 'gone/a'", "output = 'gone/./a'", "output"),
        ("output = 'a'", "report = 'a'", "output"),
        ("report = 'a.html'", "report = 'a.html'", "report"),
        ("report = 'a.html'\nfigures = 'figures'", "report = 'sub/a.html'\nfigures = './figures'", "figures"),
        ("output = 'sub/a'", "output = 'link/a'", "output"),
    ] {
        // Each line of the first study moves the second.
        let second = format!("study `two` from line {}: found ", 8 + first.matches('\n').count());
        fails(&pair(first, other), "", &second);
        let of_first = format!("which is `{option}` of study `one`, expected a file of its own");
        fails(&pair(first, other), "", &of_first);
    }
    fails(&study("one", "output = 's.toml'"), "", "`output = s.toml`, which is the file of studies itself");
    fails(&study("one", "output = 'a'\nreport = 'a'"), "", "which is `output` of study `one`");
    fails(&format!("{COUNTS}output = './c.csv'\n"), "", "which is `file` of study `audit counts 1`");
    fails(&format!("{COUNTS}{}", study("two", "output = 'c.csv'")), "", "which is `file` of study `audit counts 1`");
    let output = "a: --output: found `output` of study `one`, expected another file";
    fails(&study("one", "output = 'a'"), "--output a", output);
    fails(&study("one", "report = 'a'"), "--report ./a", "--report: found `report` of study `one`");
    // What one study writes another may read, and a device takes it all.
    let simulated = "samples = 1000\nmodel = 'prompt-pate'\nnoise = 'gaussian:2'\nhistogram = [3, 1]\nhistogram_neighbor = [2, 2]\n";
    desk.file("p.toml", simulated);
    let chain = "[[study]]\ncommand = 'simulate'\nscenario = 'p.toml'\noutput = 'n.json'\nformat = 'json'\n\
                 [[study]]\ncommand = 'audit counts'\nfile = 'n.json'\noutput = '/dev/null'\n\
                 [[study]]\nname = 'again'\ncommand = 'audit counts'\nfile = 'n.json'\noutput = '/dev/null'\n";
    desk.file("s.toml", chain);
    desk.stdout("run s.toml");
}

#[test]
fn a_file_that_runs_itself_is_rejected() {
    let desk = Desk::new();
    let run = |file: &str| format!("[[study]]\ncommand = 'run'\nfile = '{file}'\n");
    desk.file("s.toml", run("./s.toml"));
    let line = desk.rejected(1, "run s.toml");
    let expected = "s.toml: study `run 1` from line 1: found the file ./s.toml, which this study belongs to, expected a \
                    file that does not run itself";
    assert!(line.starts_with(expected), "{line}");
    // Through other files; the first of them names work that is never begun.
    desk.file("a.toml", format!("{EXACT}output = 'a.txt'\n{}", run("b.toml")));
    desk.file("b.toml", run("c.toml"));
    desk.file("c.toml", run("a.toml"));
    desk.is_rejected_as(1, "run a.toml", "c.toml: study `run 1` from line 1: found the file a.toml");
    // A chain that is long enough for any use.
    for file in 0..20 {
        desk.file(&format!("{file}.toml"), run(&format!("{}.toml", file + 1)));
    }
    desk.file("20.toml", EXACT);
    desk.is_rejected(1, "run 0.toml", "expected at most 16 files, each run by the one before it");
    desk.stdout("run 10.toml");
    // A result that another file's study writes, too, and a file that is wrong.
    desk.file("a.toml", format!("{EXACT}output = 'a.txt'\n{}", run("b.toml")));
    desk.file("b.toml", format!("{EXACT}output = 'a.txt'\n"));
    let line = desk.rejected(1, "run a.toml");
    assert!(line.starts_with("b.toml: ") && line.contains("which is `output` of study `votes`"), "{line}");
    desk.file("b.toml", format!("{EXACT}claim-epsilon = nan\n"));
    let line = desk.rejected(1, "run a.toml");
    assert!(line.starts_with("b.toml: ") && line.contains("epsilon = NaN"), "{line}");
}

/// An option that is infinite is one.
#[test]
fn infinite_options_are_repeated() {
    let desk = Desk::new();
    let scores: String = (0..40).map(|canary| format!("{},{}\n", canary * 37 % 40, canary % 2)).collect();
    desk.file("s.csv", format!("score,member\n{scores}"));
    let line = |member: bool, value: f64| {
        format!("{{\"member\": {member}, \"log_probabilities\": [{value}], \"entropy\": [9]}}\n")
    };
    desk.file("t.jsonl", (0..20).map(|index| line(index % 2 == 0, -f64::from(index + 1))).collect::<String>());
    for (words, option) in [
        ("audit scores s.csv --threshold=-inf", "threshold"),
        ("audit scores s.csv --threshold inf", "threshold"),
        ("membership text t.jsonl --fpr 0.1 --scores surprise --entropy-limit inf", "entropy_limit"),
    ] {
        // A warning may come with it.
        let made = desk.run(&format!("{words} --format json"));
        assert!(made.stdout.contains(&format!("\"{option}\": \"")), "{words}: {made:?}");
        desk.file("d.json", &made.stdout);
        assert!(desk.stdout("rerun d.json").contains("\nidentical: all "), "{words}");
    }
}

/// A document that somebody changed.
#[test]
fn documents_that_are_repeated_are_read_whole() {
    let desk = Desk::new();
    desk.file("c.csv", TABLE);
    desk.stdout("audit counts c.csv --orders 2 --claim-rdp 2:9 --format json --output d.json");
    let document = desk.text("d.json");
    assert!(desk.stdout("rerun d.json").contains("\nidentical: all "));
    let claim = "\"claim_epsilon\": null";
    for (from, to, expected) in [
        ("\"orders\"", "\"orders\": [2.0], \"orders\"", "duplicate key `orders`"),
        ("\"seed\": 0", "\"seed\": 0, \"seed\": 1", "duplicate key `seed`, expected each key once"),
        (claim, "\"claim_epsilon\": []", "`claim_epsilon = []`, which is not"),
        (claim, "\"claim_epsilon\": {}", "`claim_epsilon = {}`, which is not"),
        (claim, "\"claim_epsilon\": false", "`claim_epsilon = false`, which is not"),
        (claim, &format!("{claim}, \"claim-epsilon\": 9"), "the option `claim_epsilon` a second time"),
        (claim, &format!("{claim}, \"claims\": null"), "the option `claims`, which it does not have"),
        ("\"trade_off\": false", "\"trade_off\": \"no\"", "which is not true or false"),
        ("\"command\": \"audit counts\"", "\"command\": \"exact\"", "which it does not have"),
    ] {
        assert!(document.contains(from), "{from}: {document}");
        desk.file("bad.json", document.replacen(from, to, 1));
        let line = desk.rejected(1, "rerun bad.json");
        assert!(line.starts_with("bad.json: ") && line.contains(expected), "{to}: {line}");
    }
}
