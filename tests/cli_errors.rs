//! Every refusal of the command, as the user reads it: one line on stderr, nothing on stdout, no file left behind.
#![cfg(feature = "cli")]

use assert_cmd::Command;
use ndarray::{Array1, Array2, Array3, array};
use ndarray_npy::NpzWriter;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder with the files of one test, in which the command runs.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// A numpy archive.
    fn arrays(&self, name: &str, add: impl FnOnce(&mut NpzWriter<File>)) {
        let mut writer = NpzWriter::new(File::create(self.folder.path().join(name)).unwrap());
        add(&mut writer);
        writer.finish().unwrap();
    }

    fn command(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_leakbound")).current_dir(self.folder.path()).args(arguments).output().unwrap()
    }

    /// The one line that a refused run prints, without `error: `; the run must end with this status.
    fn refused(&self, status: i32, arguments: &[&str]) -> String {
        let names = || {
            let mut names: Vec<_> = fs::read_dir(self.folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        let before = names();
        let mut all = arguments.to_vec();
        // Where the place of the result is not the subject, it must not appear.
        if !arguments.contains(&"--output") {
            all.extend(["--output", "result"]);
        }
        let start = Instant::now();
        let output = self.command(&all);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(start.elapsed() < Duration::from_secs(10), "{arguments:?}: {:?}", start.elapsed());
        assert_eq!(output.status.code(), Some(status), "{arguments:?}: {stderr}");
        assert!(output.stdout.is_empty(), "{arguments:?}");
        assert_eq!(names(), before, "{arguments:?}");
        let line = stderr.strip_prefix("error: ").and_then(|text| text.strip_suffix('\n'));
        let line = line.unwrap_or_else(|| panic!("{arguments:?}: {stderr}"));
        assert!(!line.contains(char::is_control), "{arguments:?}: {stderr}");
        line.to_owned()
    }

    /// Words separated by blanks.
    fn words(&self, status: i32, arguments: &str) -> String {
        self.refused(status, &arguments.split_whitespace().collect::<Vec<_>>())
    }

    /// `audit counts` of a text.
    fn counts(&self, text: impl AsRef<[u8]>) -> String {
        self.file("a.csv", text);
        self.words(1, "audit counts a.csv")
    }

    /// `audit votes` of an archive.
    fn votes(&self, model: &str, add: impl FnOnce(&mut NpzWriter<File>)) -> String {
        self.arrays("v.npz", add);
        self.words(1, &format!("audit votes v.npz --noise gaussian:1 --model {model}"))
    }
}

/// One table that is good, so that only its companion is bad.
const GOOD: &str = "outcome,count,count_neighbor\na,60,50\nb,40,50\n";

#[test]
fn tables_of_counts() {
    let desk = Desk::new();
    let with = |rows: &str| desk.counts(format!("outcome,count,count_neighbor\n{rows}"));
    insta::assert_snapshot!(
        [
            desk.counts(""),
            with(""),
            desk.counts("outcome,count\na,1\n"),
            with("a,-3,5\n"),
            with("a,2.5,5\n"),
            with("a,NaN,5\n"),
            with("a,1,5\nb,1\n"),
            desk.counts(b"outcome,count,count_neighbor\ncaf\xe9,1,1\n"),
            with("a,0,1\nb,0,1\n"),
            with("a,9007199254740993,1\n"),
            desk.counts([0u8; 100]),
            desk.counts("world,output\ns,a\n"),
            desk.counts("\u{feff}outcome,count,count_neighbor\r\na,1,1\r\nb,x,1\r\n"),
        ]
        .join("\n"),
        @r"
        a.csv: whole file: found an empty file, expected recorded counts as CSV or JSON
        a.csv: line 1: found a header without rows, expected at least 1 row
        a.csv: line 1: found columns `outcome`, `count`, expected the column `count_neighbor`
        a.csv: line 2, column count: found `-3`, expected a whole number from 0 to 2^53; hint: counts are never negative
        a.csv: line 2, column count: found `2.5`, expected a whole number from 0 to 2^53; hint: counts are written with digits only
        a.csv: line 2, column count: found `NaN`, expected a whole number from 0 to 2^53
        a.csv: line 3: found 2 fields, expected 3 as in the header
        a.csv: line 2: found the byte 0xe9, expected UTF-8 text; hint: save the file as UTF-8
        a.csv: whole file: found 0 samples under the dataset (s), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
        a.csv: line 2, column count: found `9007199254740993`, expected a whole number from 0 to 2^53; hint: above 2^53 a double no longer holds every whole number
        a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
        a.csv: whole file: found 0 samples under the neighbour (s_prime), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
        a.csv: line 3, column count: found `x`, expected a whole number from 0 to 2^53
        "
    );
}

#[test]
fn laws_and_pilots() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    desk.file("q.csv", "query,outcome,count,count_neighbor\nx,a,6,5\nx,b,4,5\n");
    let law = |text: &str| {
        desk.file("law.csv", text);
        desk.words(1, "audit counts a.csv --law law.csv")
    };
    let pilot = |text: &str| {
        desk.file("pilot.csv", text);
        desk.words(1, "audit counts a.csv --pilot pilot.csv")
    };
    insta::assert_snapshot!(
        [
            law("outcome,p,q\na,0.5,0.5\nb,0.4,0.5\n"),
            law("outcome,p,q\na,0.5,0.5\nc,0.5,0.5\n"),
            law("outcome,p,q\na,1.5,0.5\nb,-0.5,0.5\n"),
            law("outcome,p,q\na,nan,0.5\nb,0.5,0.5\n"),
            law("query,outcome,p,q\nx,a,0.5,0.5\nx,b,0.5,0.5\n"),
            law(""),
            pilot("outcome,count,count_neighbor\na,6,5\nc,4,5\n"),
            pilot("query,outcome,count,count_neighbor\ny,a,6,5\ny,b,4,5\n"),
            pilot("outcome,count,count_neighbor\na,0,5\nb,0,5\n"),
            desk.words(1, "audit counts q.csv --pilot a.csv"),
            desk.words(1, "audit counts a.csv --pilot none.csv"),
            desk.words(1, "audit counts a.csv --law ."),
            desk.words(2, "audit counts a.csv --pilot-fraction 1e-9"),
        ]
        .join("\n"),
        @r"
        law.csv: whole file: found p summing to 0.9, expected probabilities that sum to 1 within 1e-9
        law.csv: whole file: found an outcome `b` that stands in one of the two files only, expected the same outcomes in the counts and in the file that chooses the sets
        law.csv: line 2, column p: found `1.5`, expected a probability from 0 to 1; hint: counts go in the columns count and count_neighbor of a counts file
        law.csv: line 2, column p: found `nan`, expected a probability from 0 to 1
        law.csv: whole file: found no such query, expected a law without a query
        law.csv: whole file: found an empty file, expected the law of the outputs as CSV or JSON
        pilot.csv: whole file: found an outcome `c` that stands in one of the two files only, expected the same outcomes in the counts and in the file that chooses the sets
        pilot.csv: whole file: found no such query, expected pilot counts without a query
        pilot.csv: whole file: found 0 samples under the dataset (s), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
        a.csv: whole file: found no such query, expected pilot counts of query `x`
        none.csv: cannot read: No such file or directory (os error 2)
        .: whole file: found a directory, expected a file; hint: name one file inside it
        pilot split: a fraction of 0.000000001 leaves a world without samples
        "
    );
}

#[test]
fn archives_of_votes() {
    let desk = Desk::new();
    let pair = |first: Array2<u8>, second: Array2<u8>| {
        desk.votes("prompt-pate", |writer| {
            writer.add_array("histogram", &first).unwrap();
            writer.add_array("histogram_prime", &second).unwrap();
        })
    };
    insta::assert_snapshot!(
        [
            desk.votes("pate", |_| ()),
            desk.votes("pate", |writer| writer.add_array("votes", &array![[1u8]]).unwrap()),
            desk.votes("pate", |writer| writer.add_array("pate_votes", &Array3::<f64>::zeros((1, 2, 3))).unwrap()),
            desk.votes("pate", |writer| writer.add_array("pate_votes", &Array2::<u8>::zeros((2, 3))).unwrap()),
            desk.votes("pate", |writer| writer.add_array("pate_votes", &Array3::<u8>::zeros((1, 2, 3))).unwrap()),
            desk.votes("pate", |writer| {
                writer.add_array("pate_votes", &Array3::<u8>::zeros((1, 2, 3))).unwrap();
                writer.add_array("adv_query", &array![0i32, 1]).unwrap();
                writer.add_array("pate_pois_advq", &Array2::<u8>::zeros((1, 3))).unwrap();
            }),
            pair(Array2::zeros((1, 0)), Array2::zeros((1, 0))),
            pair(Array2::zeros((0, 3)), Array2::zeros((0, 3))),
            pair(Array2::zeros((1, 3)), Array2::zeros((1, 3))),
            pair(array![[2, 1]], array![[2, 1, 0]]),
            pair(array![[2, 1]], array![[9, 1]]),
            desk.votes("prompt-pate", |writer| writer.add_array("votes", &Array1::<u8>::zeros(3)).unwrap()),
            desk.votes("prompt-pate", |writer| {
                writer.add_array("histogram", &array![[3i64, -1]]).unwrap();
                writer.add_array("histogram_prime", &array![[3i64, 0]]).unwrap();
            }),
            desk.votes("prompt-pate", |writer| {
                writer.add_array("histogram", &array![[3u64, 1 << 60]]).unwrap();
                writer.add_array("histogram_prime", &array![[3u64, 0]]).unwrap();
            }),
        ]
        .join("\n"),
        @r"
        v.npz: whole file: found an archive without arrays, expected at least 1 array
        v.npz: whole file: found arrays `votes`, expected the array `pate_votes`
        v.npz: array `pate_votes`: found dtype `f64`, expected an integer dtype; hint: numpy converts with .astype(numpy.int64)
        v.npz: array `pate_votes`: found shape [2, 3], expected 3 axes
        v.npz: whole file: found arrays `pate_votes`, expected the array `pate_pois_advq`
        v.npz: array `pate_pois_advq`: found 1 row, expected 2 rows, one per entry of `adv_query`
        v.npz: array `histogram`: found shape [1, 0], expected at least 1 entry on axis 1
        v.npz: array `histogram`: found shape [0, 3], expected at least 1 entry on axis 0
        v.npz: array `histogram`: found 0 votes on query 0, expected at least 1 vote
        v.npz: array `histogram_prime`: found 3 classes, expected 2 as in `histogram`
        v.npz: array `histogram_prime`: found 10 votes on query 0, expected 3 as in `histogram`, or one more or less
        v.npz: array `votes`: found shape [3], expected 2 axes
        v.npz: array `histogram`, index [0, 1]: found `-1`, expected a whole number of at least 0
        v.npz: array `histogram`, index [0, 1]: found `1152921504606846976`, expected a whole number from 0 to 2^49
        "
    );
}

#[test]
fn values_that_no_file_decides() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    let noise = |text: &str| desk.refused(2, &["exact", "--histogram", "5,3", "--neighbor", "4,4", "--noise", text]);
    let exact = |more: &str| desk.words(2, &format!("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 {more}"));
    let counts = |more: &str| desk.words(2, &format!("audit counts a.csv {more}"));
    let votes = |more: &str| desk.words(2, &format!("audit votes v.npz --model pate --noise gaussian:1 {more}"));
    let confusion = |more: &str| desk.words(2, &format!("audit confusion {more}"));
    insta::assert_snapshot!(
        [
            noise("gaussian:0"),
            noise("gaussian:-1"),
            noise("gaussian:inf"),
            noise("gaussian:nan"),
            noise("gaussian:1e-400"),
            noise("gaussian"),
            noise("cauchy:1"),
            noise(""),
            noise("gauss\nian:\u{1b}[2J1"),
            desk.words(2, "exact --histogram 5,3 --neighbor 4,4 --output result --noise"),
            exact("--orders 1"),
            exact("--orders inf"),
            exact("--orders nan"),
            exact("--orders 2,"),
            exact("--orders 9..2"),
            exact("--epsilons -0.1"),
            exact("--epsilons inf"),
            exact("--delta 1"),
            exact("--delta -0.1"),
            exact("--delta nan"),
            exact("--claim-rdp 2"),
            exact("--claim-rdp 2:-1"),
            exact("--claim-rdp 0.5:1"),
            exact("--claim-rdp 2:inf"),
            exact("--claim-mu nan"),
            exact("--claim-epsilon -1"),
            exact("--seed -1"),
            exact("--threads 0"),
            exact("--format xml"),
            counts("--failure-probability 0"),
            counts("--failure-probability 1"),
            counts("--failure-probability nan"),
            counts("--methods two-cut-paper,magic"),
            counts("--direction up"),
            counts("--pilot-fraction 1"),
            votes("--samples 0"),
            votes("--samples 2e16"),
            votes("--samples 1.5"),
            votes("--samples many"),
            votes("--samples -3"),
            votes("--queries one"),
            votes("--queries -1"),
            votes("--queries 3,4,3"),
            votes("--adversary advq"),
            votes("--composition all"),
            votes("--n-queries 0"),
            votes("--n-queries 1e12"),
            desk.words(2, "audit votes v.npz --noise gaussian:1 --model magic"),
            confusion("--tp -1 --fn 0 --fp 0 --tn 1"),
            confusion("--tp 1.5 --fn 0 --fp 0 --tn 1"),
            confusion("--tp 9007199254740993 --fn 0 --fp 0 --tn 1"),
            confusion("--tp 0 --fn 0 --fp 0 --tn 1"),
            confusion("--tp 1 --fn 0 --fp 9007199254740992 --tn 1"),
        ]
        .join("\n"),
        @r#"
        invalid value 'gaussian:0' for '--noise <NOISE>': noise scale = 0 is not in (0, inf)
        invalid value 'gaussian:-1' for '--noise <NOISE>': noise scale = -1 is not in (0, inf)
        invalid value 'gaussian:inf' for '--noise <NOISE>': noise scale = inf is not in (0, inf)
        invalid value 'gaussian:nan' for '--noise <NOISE>': noise scale = NaN is not in (0, inf)
        invalid value 'gaussian:1e-400' for '--noise <NOISE>': noise scale = 0 is not in (0, inf)
        invalid value 'gaussian' for '--noise <NOISE>': noise `gaussian` cannot be read; expected gaussian:SIGMA or laplace:B
        invalid value 'cauchy:1' for '--noise <NOISE>': noise `cauchy:1` cannot be read; expected gaussian:SIGMA or laplace:B
        invalid value '' for '--noise <NOISE>': noise `` cannot be read; expected gaussian:SIGMA or laplace:B
        invalid value 'gauss\nian:\u{1b}[2J1' for '--noise <NOISE>': noise `gauss\nian:\u{1b}[2J1` cannot be read; expected gaussian:SIGMA or laplace:B
        a value is required for '--noise <NOISE>' but none was supplied
        invalid value '1' for '--orders <ORDERS>': Rényi order = 1 is not in (1, inf)
        invalid value 'inf' for '--orders <ORDERS>': Rényi order = inf is not in (1, inf)
        invalid value 'nan' for '--orders <ORDERS>': Rényi order = NaN is not in (1, inf)
        invalid value '2,' for '--orders <ORDERS>': `` is not a number
        invalid value '9..2' for '--orders <ORDERS>': `9..2` is not a range of 1 to 10,000 orders
        invalid value '-0.1' for '--epsilons <EPSILONS>': epsilon = -0.1 is not in [0, inf)
        invalid value 'inf' for '--epsilons <EPSILONS>': epsilon = inf is not in [0, inf)
        invalid value '1' for '--delta <D>': delta = 1 is not in [0, 1)
        invalid value '-0.1' for '--delta <D>': delta = -0.1 is not in [0, 1)
        invalid value 'nan' for '--delta <D>': delta = NaN is not in [0, 1)
        invalid value '2' for '--claim-rdp <ORDER:VALUE>': `2` is not ORDER:VALUE
        invalid value '2:-1' for '--claim-rdp <ORDER:VALUE>': Rényi divergence = -1 is not in [0, inf)
        invalid value '0.5:1' for '--claim-rdp <ORDER:VALUE>': Rényi order = 0.5 is not in (1, inf)
        invalid value '2:inf' for '--claim-rdp <ORDER:VALUE>': Rényi divergence = inf is not in [0, inf)
        invalid value 'nan' for '--claim-mu <M>': mu = NaN is not in [0, inf)
        invalid value '-1' for '--claim-epsilon <E>': epsilon = -1 is not in [0, inf)
        invalid value '-1' for '--seed <N>': `-1` is not a whole number in [0, 2^64)
        invalid value '0' for '--threads <N>': `0` is not a whole number of threads in [1, 4096]
        invalid value 'xml' for '--format <FORMAT>': expected text, json, csv
        invalid value '0' for '--failure-probability <P>': failure probability = 0 is not in (0, 1)
        invalid value '1' for '--failure-probability <P>': failure probability = 1 is not in (0, 1)
        invalid value 'nan' for '--failure-probability <P>': failure probability = NaN is not in (0, 1)
        invalid value 'two-cut-paper,magic' for '--methods <NAME,...>': method `magic` cannot be read; expected two-cut-paper, two-cut-corner, two-cut-half-space, k-cut-goodman, k-cut-sison-glaz, k-cut-box, k-cut-variational, k-cut-region, bootstrap-two-cut, bootstrap-k-c...
        invalid value 'up' for '--direction <DIRECTION>': expected forward, reverse, both
        invalid value '1' for '--pilot-fraction <F>': pilot fraction = 1 is not in (0, 1)
        invalid value '0' for '--samples <N>': `0` is not a whole number in [1, 2^53]
        invalid value '2e16' for '--samples <N>': `2e16` is not a whole number in [1, 2^53]
        invalid value '1.5' for '--samples <N>': `1.5` is not a whole number in [1, 2^53]
        invalid value 'many' for '--samples <N>': `many` is not a number
        invalid value '-3' for '--samples <N>': `-3` is not a whole number in [1, 2^53]
        invalid value 'one' for '--queries <I,J|all>': `one` is not a position
        invalid value '-1' for '--queries <I,J|all>': `-1` is not a position
        invalid value '3,4,3' for '--queries <I,J|all>': position 3 comes twice
        invalid value 'advq' for '--adversary <NAME>': adversary `advq` cannot be read; expected nat-advq, pois-advq or pois-natq
        invalid value 'all' for '--composition <MODE>': composition `all` cannot be read; expected independent, shared-teachers or per-query
        invalid value '0' for '--n-queries <N>': `0` is not a whole number in [1, 1e9]
        invalid value '1e12' for '--n-queries <N>': `1e12` is not a whole number in [1, 1e9]
        invalid value 'magic' for '--model <MODEL>': expected pate, capc, prompt-pate, private-knn
        invalid value '-1' for '--tp <N>': `-1` is not a whole number in [0, 2^53]
        invalid value '1.5' for '--tp <N>': `1.5` is not a whole number in [0, 2^53]
        invalid value '9007199254740993' for '--tp <N>': `9007199254740993` is not a whole number in [0, 2^53]
        samples of the dataset = 0 is not in [1, 2^53]
        samples of the neighbour = 9007199254740994 is not in [1, 2^53]
        "#
    );
}

#[test]
fn histograms() {
    let desk = Desk::new();
    let pair = |histogram: &str, neighbor: &str, noise: &str| {
        desk.refused(2, &["exact", "--histogram", histogram, "--neighbor", neighbor, "--noise", noise])
    };
    let worst = |histogram: &str, adjacency: &str| {
        desk.refused(2, &["exact", "--histogram", histogram, "--worst-neighbor", adjacency, "--noise", "gaussian:1"])
    };
    let wide = vec!["1"; 10_001].join(",");
    let distinct = (0..300).map(|count| count.to_string()).collect::<Vec<_>>().join(",");
    insta::assert_snapshot!(
        [
            pair("", "1", "gaussian:1"),
            pair("5,,3", "4,4", "gaussian:1"),
            pair("5,-3", "4,4", "gaussian:1"),
            pair("5,2.5", "4,4", "gaussian:1"),
            pair("5,99999999999999999999", "4,4", "gaussian:1"),
            pair("5,9007199254740993", "4,4", "gaussian:1"),
            pair("5,3", "4,4,0", "gaussian:1"),
            pair("9007199254740992,0", "9007199254740991,1", "gaussian:1e-300"),
            pair("9007199254740992,0", "9007199254740991,1", "laplace:1e-100"),
            worst("5", "moved"),
            worst("0,0", "removed"),
            worst("5,3", "swapped"),
            worst(&distinct, "moved"),
        ]
        .join("\n"),
        @r"
        invalid value '' for '--histogram <HISTOGRAM>': `` is not a whole number in [0, 2^53]
        invalid value '5,,3' for '--histogram <HISTOGRAM>': `` is not a whole number in [0, 2^53]
        invalid value '5,-3' for '--histogram <HISTOGRAM>': `-3` is not a whole number in [0, 2^53]
        invalid value '5,2.5' for '--histogram <HISTOGRAM>': `2.5` is not a whole number in [0, 2^53]
        invalid value '5,99999999999999999999' for '--histogram <HISTOGRAM>': `99999999999999999999` is not a whole number in [0, 2^53]
        invalid value '5,9007199254740993' for '--histogram <HISTOGRAM>': `9007199254740993` is not a whole number in [0, 2^53]
        histogram of the neighbour has length 3; expected 2 classes, as the other histogram
        spread of the counts over the noise scale = inf is not in [0, 1e17]
        spread of the counts over the noise scale = 9.007199254740992e115 is not in [0, 1e100]
        worst neighbour: the histogram has 0 different neighbours; 1 to 50000 are searched
        worst neighbour: the histogram has 0 different neighbours; 1 to 50000 are searched
        invalid value 'swapped' for '--worst-neighbor <ADJACENCY>': `swapped` is not moved, added or removed
        worst neighbour: the histogram has 89401 different neighbours; 1 to 50000 are searched
        "
    );
    // A long value is not repeated whole.
    let line = pair(&wide, "1", "gaussian:1");
    assert!(
        line.len() < 400 && line.ends_with("vote histogram has length 10001; expected 1 to 10000 classes"),
        "{line}"
    );
}

#[test]
fn queries_and_models_that_the_file_does_not_have() {
    let desk = Desk::new();
    desk.arrays("v.npz", |writer| {
        writer.add_array("pate_votes", &array![[[0u8, 1, 1], [1, 0, 0]]]).unwrap();
        writer.add_array("adv_query", &array![1i32]).unwrap();
        writer.add_array("pate_pois_advq", &array![[0u8, 1]]).unwrap();
    });
    insta::assert_snapshot!(
        [
            desk.words(1, "audit votes v.npz --model pate --noise gaussian:1 --queries 0"),
            desk.words(1, "audit votes v.npz --model pate --noise gaussian:1 --queries 1,99999999999"),
            desk.words(1, "audit votes v.npz --model pate --noise gaussian:1 --adversary nat-advq"),
            desk.words(1, "audit votes v.npz --model prompt-pate --noise gaussian:1"),
            desk.words(2, "audit votes v.npz --model pate --noise laplace:1"),
        ]
        .join("\n"),
        @r"
        v.npz: --queries: found position 0, expected each of the recorded positions at most once: 1
        v.npz: --queries: found position 99999999999, expected each of the recorded positions at most once: 1
        v.npz: whole file: found arrays `pate_votes`, `adv_query`, `pate_pois_advq`, expected the array `pate_nat_advq`
        v.npz: whole file: found arrays `pate_votes`, `adv_query`, `pate_pois_advq`, expected either `votes` and `votes_prime` or `histogram` and `histogram_prime`
        exact law of random votes: only Gaussian noise is supported, not laplace:1
        "
    );
}

#[test]
fn paths() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    fs::create_dir(desk.folder.path().join("folder")).unwrap();
    let counts = |path: &str| desk.refused(1, &["audit", "counts", path]);
    let output = |path: &str| {
        let exact = ["exact", "--histogram", "5,3", "--neighbor", "4,4", "--noise", "gaussian:1"];
        desk.refused(1, &[&exact[..], &["--output", path]].concat())
    };
    insta::assert_snapshot!(
        [
            counts("none.csv"),
            counts("folder"),
            counts("a.csv/inside"),
            desk.refused(2, &["audit", "counts", ""]),
            counts("two\nlines\u{1b}[2J.csv"),
            desk.words(1, "audit votes none.npz --model pate --noise gaussian:1"),
            desk.words(1, "audit votes folder --model pate --noise gaussian:1"),
            desk.words(1, "audit votes a.csv --model pate --noise gaussian:1"),
            output("folder"),
            output("none/result"),
            output("a.csv/result"),
            output("no\nne/result"),
        ]
        .join("\n"),
        @r"
        none.csv: cannot read: No such file or directory (os error 2)
        folder: whole file: found a directory, expected a file; hint: name one file inside it
        a.csv/inside: cannot read: Not a directory (os error 20)
        a value is required for '<FILE>' but none was supplied
        two\nlines\u{1b}[2J.csv: cannot read: No such file or directory (os error 2)
        none.npz: cannot read: No such file or directory (os error 2)
        folder: whole file: found a directory, expected a file; hint: name one file inside it
        a.csv: whole file: found a file that starts with 6f 75 74 63 6f 6d, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
        folder: cannot write: is a directory
        none/result: cannot write: No such file or directory (os error 2)
        a.csv/result: cannot write: Not a directory (os error 20)
        no\nne/result: cannot write: No such file or directory (os error 2)
        "
    );
}

/// Two gigabytes that take no room on the disk: refused from their first bytes.
#[test]
fn huge_files_of_zeros() {
    let desk = Desk::new();
    let zeros = |name: &str, start: &[u8]| {
        let path: &Path = &desk.file(name, start);
        File::options().write(true).open(path).unwrap().set_len(2 << 30).unwrap();
    };
    zeros("a.csv", b"");
    zeros("b.csv", GOOD.as_bytes());
    zeros("a.npz", b"");
    zeros("b.npz", b"PK\x03\x04");
    insta::assert_snapshot!(
        [
            desk.words(1, "audit counts a.csv"),
            desk.words(1, "audit counts b.csv"),
            desk.words(1, "audit votes a.npz --model pate --noise gaussian:1"),
            desk.words(1, "audit votes b.npz --model pate --noise gaussian:1"),
        ]
        .join("\n"),
        @r"
        a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
        b.csv: byte 45: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
        a.npz: whole file: found a file that starts with 00 00 00 00 00 00, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
        b.npz: whole file: found an archive without its directory, expected a complete numpy archive (.npz); hint: the file may be cut off
        "
    );
}

/// Unknown and missing options keep the usage text that clap prints.
#[test]
fn unknown_options_end_with_2() {
    let desk = Desk::new();
    for arguments in ["exact --histogran 1", "exact", "audit", "magic", "", "audit counts a --pilot b --law c"] {
        let output = desk.command(&arguments.split_whitespace().collect::<Vec<_>>());
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments}");
    }
}

/// The system's reason for a full disk is passed on.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let arguments = ["exact", "--histogram", "5,3", "--neighbor", "4,4", "--noise", "gaussian:1"];
    let run = |more: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_leakbound"));
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = command.args([&arguments[..], more].concat()).stdout(full).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let reason = "cannot write: No space left on device (os error 28)";
    assert_eq!(run(&[]), (Some(1), format!("error: stdout: {reason}\n")));
    assert_eq!(run(&["--output", "/dev/full"]), (Some(1), format!("error: /dev/full: {reason}\n")));
}

#[test]
fn a_result_never_replaces_its_own_input() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("counts.csv");
    let content = "outcome,count,count_neighbor\na,60,50\nb,40,50\n";
    std::fs::write(&file, content).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_leakbound"))
        .args(["audit", "counts", "counts.csv", "--output", "./counts.csv"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    insta::assert_snapshot!(
        String::from_utf8(output.stderr).unwrap(),
        @"error: ./counts.csv: --output: found the input file itself, expected another file, because the result replaces it"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), content);
}
