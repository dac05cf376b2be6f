//! Every rejection of the command, as the user reads it: one line on stderr, nothing on stdout, no file left behind.

use crate::arrays::{Arrays, Stored};
use crate::desk::{Desk, table};
use ndarray::{Array1, Array2, Array3, array};
use std::fs::{self, File};

/// `audit counts` of a text.
fn counts(desk: &Desk, text: impl AsRef<[u8]>) -> String {
    desk.file("a.csv", text);
    desk.rejected(1, "audit counts a.csv")
}

/// `audit votes` of an archive.
fn votes(desk: &Desk, model: &str, arrays: &Arrays<'_>) -> String {
    desk.arrays("v.npz", arrays);
    desk.rejected(1, &format!("audit votes v.npz --noise gaussian:1 --model {model}"))
}

/// One table that is good, so that only its companion is bad.
const GOOD: &str = "outcome,count,count_neighbor\na,60,50\nb,40,50\n";

#[test]
fn values_of_noise() {
    let desk = Desk::new();
    let rows = r"
        --noise gaussian:0 => 2: invalid value 'gaussian:0' for '--noise <NOISE>': noise scale = 0 is not in (0, inf)
        --noise gaussian:-1 => 2: invalid value 'gaussian:-1' for '--noise <NOISE>': noise scale = -1 is not in (0, inf)
        --noise gaussian:inf => 2: invalid value 'gaussian:inf' for '--noise <NOISE>': noise scale = inf is not in (0, inf)
        --noise gaussian:nan => 2: invalid value 'gaussian:nan' for '--noise <NOISE>': noise scale = NaN is not in (0, inf)
        --noise gaussian:1e-400 => 2: invalid value 'gaussian:1e-400' for '--noise <NOISE>': noise scale = 0 is not in (0, inf)
        --noise gaussian => 2: invalid value 'gaussian' for '--noise <NOISE>': noise `gaussian` cannot be read; expected gaussian:SIGMA or laplace:B
        --noise cauchy:1 => 2: invalid value 'cauchy:1' for '--noise <NOISE>': noise `cauchy:1` cannot be read; expected gaussian:SIGMA or laplace:B
        --noise '' => 2: invalid value '' for '--noise <NOISE>': noise `` cannot be read; expected gaussian:SIGMA or laplace:B
        --noise 'gauss\nian:\e[2J1' => 2: invalid value 'gauss\nian:\u{1b}[2J1' for '--noise <NOISE>': noise `gauss\nian:\u{1b}[2J1` cannot be read; expected gaussian:SIGMA or laplace:B
        --output result --noise => 2: a value is required for '--noise <NOISE>' but none was supplied
    ";
    desk.rejects("exact --histogram 5,3 --neighbor 4,4", rows);
}

#[test]
fn values_of_exact() {
    let desk = Desk::new();
    let rows = r"
        --orders 1 => 2: invalid value '1' for '--orders <ORDERS>': Rényi order = 1 is not in (1, inf)
        --orders inf => 2: invalid value 'inf' for '--orders <ORDERS>': Rényi order = inf is not in (1, inf)
        --orders nan => 2: invalid value 'nan' for '--orders <ORDERS>': Rényi order = NaN is not in (1, inf)
        --orders 2, => 2: invalid value '2,' for '--orders <ORDERS>': `` is not a number
        --orders 9..2 => 2: invalid value '9..2' for '--orders <ORDERS>': `9..2` is not a range of 1 to 10,000 orders
        --epsilons -0.1 => 2: invalid value '-0.1' for '--epsilons <EPSILONS>': epsilon = -0.1 is not in [0, inf)
        --epsilons inf => 2: invalid value 'inf' for '--epsilons <EPSILONS>': epsilon = inf is not in [0, inf)
        --delta 1 => 2: invalid value '1' for '--delta <D>': delta = 1 is not in [0, 1)
        --delta -0.1 => 2: invalid value '-0.1' for '--delta <D>': delta = -0.1 is not in [0, 1)
        --delta nan => 2: invalid value 'nan' for '--delta <D>': delta = NaN is not in [0, 1)
        --claim-rdp 2 => 2: invalid value '2' for '--claim-rdp <ORDER:VALUE>': `2` is not ORDER:VALUE
        --claim-rdp 2:-1 => 2: invalid value '2:-1' for '--claim-rdp <ORDER:VALUE>': Rényi divergence = -1 is not in [0, inf)
        --claim-rdp 0.5:1 => 2: invalid value '0.5:1' for '--claim-rdp <ORDER:VALUE>': Rényi order = 0.5 is not in (1, inf)
        --claim-rdp 2:inf => 2: invalid value '2:inf' for '--claim-rdp <ORDER:VALUE>': Rényi divergence = inf is not in [0, inf)
        --claim-mu nan => 2: invalid value 'nan' for '--claim-mu <M>': mu = NaN is not in [0, inf)
        --claim-epsilon -1 => 2: invalid value '-1' for '--claim-epsilon <E>': epsilon = -1 is not in [0, inf)
        --seed -1 => 2: invalid value '-1' for '--seed <N>': `-1` is not a whole number in [0, 2^64)
        --threads 0 => 2: invalid value '0' for '--threads <N>': `0` is not a whole number of threads in [1, 4096]
        --format xml => 2: invalid value 'xml' for '--format <FORMAT>': expected text, json, csv
    ";
    desk.rejects("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1", rows);
}

#[test]
fn values_of_audit_counts_and_confusion() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    let rows = r"
        counts a.csv --failure-probability 0 => 2: invalid value '0' for '--failure-probability <P>': failure probability = 0 is not in (0, 1)
        counts a.csv --failure-probability 1 => 2: invalid value '1' for '--failure-probability <P>': failure probability = 1 is not in (0, 1)
        counts a.csv --failure-probability nan => 2: invalid value 'nan' for '--failure-probability <P>': failure probability = NaN is not in (0, 1)
        counts a.csv --methods two-cut-paper,magic => 2: invalid value 'two-cut-paper,magic' for '--methods <NAME,...>': method `magic` cannot be read; expected two-cut-paper, two-cut-corner, two-cut-half-space, k-cut-goodman, k-cut-sison-glaz, k-cut-box, k-cut-variational, k-cut-region, bootstrap-two-cut, bootstrap-k-cut, e-process, clopper-pearson, jeffreys, joint-beta, katz-log or gdp
        counts a.csv --direction up => 2: invalid value 'up' for '--direction <DIRECTION>': expected forward, reverse, both
        counts a.csv --pilot-fraction 1 => 2: invalid value '1' for '--pilot-fraction <F>': pilot fraction = 1 is not in (0, 1)
        confusion --tp -1 --fn 0 --fp 0 --tn 1 => 2: invalid value '-1' for '--tp <N>': `-1` is not a whole number in [0, 2^53]
        confusion --tp 1.5 --fn 0 --fp 0 --tn 1 => 2: invalid value '1.5' for '--tp <N>': `1.5` is not a whole number in [0, 2^53]
        confusion --tp 9007199254740993 --fn 0 --fp 0 --tn 1 => 2: invalid value '9007199254740993' for '--tp <N>': `9007199254740993` is not a whole number in [0, 2^53]
        confusion --tp 0 --fn 0 --fp 0 --tn 1 => 2: samples of the dataset = 0 is not in [1, 2^53]
        confusion --tp 1 --fn 0 --fp 9007199254740992 --tn 1 => 2: samples of the neighbor = 9007199254740994 is not in [1, 2^53]
    ";
    desk.rejects("audit", rows);
}

#[test]
fn values_of_audit_votes() {
    let desk = Desk::new();
    let rows = r"
        pate --samples 0 => 2: invalid value '0' for '--samples <N>': `0` is not a whole number in [1, 2^53]
        pate --samples 2e16 => 2: invalid value '2e16' for '--samples <N>': `2e16` is not a whole number in [1, 2^53]
        pate --samples 1.5 => 2: invalid value '1.5' for '--samples <N>': `1.5` is not a whole number in [1, 2^53]
        pate --samples many => 2: invalid value 'many' for '--samples <N>': `many` is not a number
        pate --samples -3 => 2: invalid value '-3' for '--samples <N>': `-3` is not a whole number in [1, 2^53]
        pate --queries one => 2: invalid value 'one' for '--queries <I,J|all>': `one` is not a position
        pate --queries -1 => 2: invalid value '-1' for '--queries <I,J|all>': `-1` is not a position
        pate --queries 3,4,3 => 2: invalid value '3,4,3' for '--queries <I,J|all>': position 3 comes twice
        pate --adversary advq => 2: invalid value 'advq' for '--adversary <NAME>': adversary `advq` cannot be read; expected nat-advq, pois-advq or pois-natq
        pate --composition all => 2: invalid value 'all' for '--composition <MODE>': composition `all` cannot be read; expected independent, shared-teachers or per-query
        pate --n-queries 0 => 2: invalid value '0' for '--n-queries <N>': `0` is not a whole number in [1, 1e9]
        pate --n-queries 1e12 => 2: invalid value '1e12' for '--n-queries <N>': `1e12` is not a whole number in [1, 1e9]
        magic => 2: invalid value 'magic' for '--model <MODEL>': expected pate, capc, prompt-pate, private-knn
    ";
    desk.rejects("audit votes v.npz --noise gaussian:1 --model", rows);
}

/// Unknown and missing options keep the usage text that clap prints.
#[test]
fn unknown_options_end_with_2() {
    let desk = Desk::new();
    for arguments in ["exact --histogran 1", "exact", "audit", "magic", "", "audit counts a --pilot b --distribution c"]
    {
        let ran = desk.run(arguments);
        assert_eq!((ran.status, &*ran.stdout), (2, ""), "{arguments}");
        assert!(!ran.stderr.is_empty(), "{arguments}");
    }
}

#[test]
fn tables_of_counts() {
    let desk = Desk::new();
    let with = |rows: &str| counts(&desk, format!("outcome,count,count_neighbor\n{rows}"));
    let lines = [
        counts(&desk, b"outcome,count,count_neighbor\ncaf\xe9,1,1\n"),
        counts(&desk, [0u8; 100]),
        counts(&desk, "\u{feff}outcome,count,count_neighbor\r\na,1,1\r\nb,x,1\r\n"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    a.csv: line 2: found the byte 0xe9, expected UTF-8 text; hint: save the file as UTF-8
    a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
    a.csv: line 3, column count: found `x`, expected a whole number from 0 to 2^53
    ");
    let rows = r"
        => a.csv: whole file: found an empty file, expected recorded counts as CSV or JSON
        outcome,count\na,1\n => a.csv: line 1: found columns `outcome`, `count`, expected the column `count_neighbor`
        world,output\ns,a\n => a.csv: whole file: found 0 samples under the neighbor (s_prime), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
    ";
    table(rows, |text| counts(&desk, text));
    let rows = r"
        => a.csv: line 1: found a header without rows, expected at least 1 row
        a,-3,5\n => a.csv: line 2, column count: found `-3`, expected a whole number from 0 to 2^53; hint: counts are never negative
        a,2.5,5\n => a.csv: line 2, column count: found `2.5`, expected a whole number from 0 to 2^53; hint: counts are written with digits only
        a,NaN,5\n => a.csv: line 2, column count: found `NaN`, expected a whole number from 0 to 2^53
        a,1,5\nb,1\n => a.csv: line 3: found 2 fields, expected 3 as in the header
        a,0,1\nb,0,1\n => a.csv: whole file: found 0 samples under the dataset (s), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
        a,9007199254740993,1\n => a.csv: line 2, column count: found `9007199254740993`, expected a whole number from 0 to 2^53; hint: above 2^53 a double no longer holds every whole number
    ";
    table(rows, with);
}

#[test]
fn distributions_and_pilots() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    desk.file("q.csv", "query,outcome,count,count_neighbor\nx,a,6,5\nx,b,4,5\n");
    let distribution = |text: &str| {
        desk.file("distribution.csv", text);
        desk.rejected(1, "audit counts a.csv --distribution distribution.csv")
    };
    let pilot = |text: &str| {
        desk.file("pilot.csv", text);
        desk.rejected(1, "audit counts a.csv --pilot pilot.csv")
    };
    let rows = r"
        outcome,p,q\na,0.5,0.5\nb,0.4,0.5\n => distribution.csv: whole file: found p summing to 0.9, expected probabilities that sum to 1 within 1e-9
        outcome,p,q\na,0.5,0.5\nc,0.5,0.5\n => distribution.csv: whole file: found an outcome `b` that stands in one of the two files only, expected the same outcomes in the counts and in the file that chooses the sets
        outcome,p,q\na,1.5,0.5\nb,-0.5,0.5\n => distribution.csv: line 2, column p: found `1.5`, expected a probability from 0 to 1; hint: counts go in the columns count and count_neighbor of a counts file
        outcome,p,q\na,nan,0.5\nb,0.5,0.5\n => distribution.csv: line 2, column p: found `nan`, expected a probability from 0 to 1
        query,outcome,p,q\nx,a,0.5,0.5\nx,b,0.5,0.5\n => distribution.csv: whole file: found no such query, expected a distribution without a query
        => distribution.csv: whole file: found an empty file, expected the distribution of the outputs as CSV or JSON
    ";
    table(rows, distribution);
    let rows = r"
        outcome,count,count_neighbor\na,6,5\nc,4,5\n => pilot.csv: whole file: found an outcome `c` that stands in one of the two files only, expected the same outcomes in the counts and in the file that chooses the sets
        query,outcome,count,count_neighbor\ny,a,6,5\ny,b,4,5\n => pilot.csv: whole file: found no such query, expected pilot counts without a query
        outcome,count,count_neighbor\na,0,5\nb,0,5\n => pilot.csv: whole file: found 0 samples under the dataset (s), expected at least 1 sample in each world; hint: a bound compares the outputs of two worlds; record both
    ";
    table(rows, pilot);
    let rows = r"
        q.csv --pilot a.csv => 1: a.csv: whole file: found no such query, expected pilot counts of query `x`
        a.csv --pilot none.csv => 1: none.csv: cannot read: No such file or directory (os error 2)
        a.csv --distribution . => 1: .: whole file: found a directory, expected a file; hint: name one file inside it
        a.csv --pilot-fraction 1e-9 => 2: pilot split: a fraction of 0.000000001 leaves a world without samples
    ";
    desk.rejects("audit counts", rows);
}

#[test]
fn a_result_never_replaces_its_own_input() {
    let desk = Desk::new();
    desk.file("counts.csv", GOOD);
    insta::assert_snapshot!(
        format!("error: {}", desk.rejected(1, "audit counts counts.csv --output ./counts.csv")),
        @"error: ./counts.csv: --output: found the input file itself, expected another file, because the result replaces it"
    );
    assert_eq!(desk.text("counts.csv"), GOOD);
}

#[test]
fn archives_of_votes() {
    let desk = Desk::new();
    let three: (&str, &dyn Stored) = ("pate_votes", &Array3::<u8>::zeros((1, 2, 3)));
    let both = |first: &dyn Stored, second: &dyn Stored| {
        votes(&desk, "prompt-pate", &[("histogram", first), ("histogram_prime", second)])
    };
    let pair = |first: Array2<u8>, second: Array2<u8>| both(&first, &second);
    let lines = [
        votes(&desk, "pate", &[]),
        votes(&desk, "pate", &[("votes", &array![[1u8]])]),
        votes(&desk, "pate", &[("pate_votes", &Array3::<f64>::zeros((1, 2, 3)))]),
        votes(&desk, "pate", &[("pate_votes", &Array2::<u8>::zeros((2, 3)))]),
        votes(&desk, "pate", &[three]),
        votes(
            &desk,
            "pate",
            &[three, ("adv_query", &array![0i32, 1]), ("pate_pois_advq", &Array2::<u8>::zeros((1, 3)))],
        ),
        pair(Array2::zeros((1, 0)), Array2::zeros((1, 0))),
        pair(Array2::zeros((0, 3)), Array2::zeros((0, 3))),
        pair(Array2::zeros((1, 3)), Array2::zeros((1, 3))),
        pair(array![[2, 1]], array![[2, 1, 0]]),
        pair(array![[2, 1]], array![[9, 1]]),
        votes(&desk, "prompt-pate", &[("votes", &Array1::<u8>::zeros(3))]),
        both(&array![[3i64, -1]], &array![[3i64, 0]]),
        both(&array![[3u64, 1 << 60]], &array![[3u64, 0]]),
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
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
    ");
}

#[test]
fn queries_and_models_that_the_file_does_not_have() {
    let desk = Desk::new();
    let votes = array![[[0u8, 1, 1], [1, 0, 0]]];
    let (query, poisoned) = (array![1i32], array![[0u8, 1]]);
    desk.arrays("v.npz", &[("pate_votes", &votes), ("adv_query", &query), ("pate_pois_advq", &poisoned)]);
    let rows = r"
        --model pate --noise gaussian:1 --queries 0 => 1: v.npz: --queries: found position 0, expected each of the recorded positions at most once: 1
        --model pate --noise gaussian:1 --queries 1,99999999999 => 1: v.npz: --queries: found position 99999999999, expected each of the recorded positions at most once: 1
        --model pate --noise gaussian:1 --adversary nat-advq => 1: v.npz: whole file: found arrays `pate_votes`, `adv_query`, `pate_pois_advq`, expected the array `pate_nat_advq`
        --model prompt-pate --noise gaussian:1 => 1: v.npz: whole file: found arrays `pate_votes`, `adv_query`, `pate_pois_advq`, expected either `votes` and `votes_prime` or `histogram` and `histogram_prime`
        --model pate --noise laplace:1 => 2: exact distribution of random votes: only Gaussian noise is supported, not laplace:1
    ";
    desk.rejects("audit votes v.npz", rows);
}

#[test]
fn histograms() {
    let desk = Desk::new();
    let rows = r#"
        --histogram '' --neighbor 1 --noise gaussian:1 => 2: invalid value '' for '--histogram <HISTOGRAM>': `` is not a whole number in [0, 2^53]
        --histogram 5,,3 --neighbor 4,4 --noise gaussian:1 => 2: invalid value '5,,3' for '--histogram <HISTOGRAM>': `` is not a whole number in [0, 2^53]
        --histogram 5,-3 --neighbor 4,4 --noise gaussian:1 => 2: invalid value '5,-3' for '--histogram <HISTOGRAM>': `-3` is not a whole number in [0, 2^53]
        --histogram 5,2.5 --neighbor 4,4 --noise gaussian:1 => 2: invalid value '5,2.5' for '--histogram <HISTOGRAM>': `2.5` is not a whole number in [0, 2^53]
        --histogram 5,99999999999999999999 --neighbor 4,4 --noise gaussian:1 => 2: invalid value '5,99999999999999999999' for '--histogram <HISTOGRAM>': `99999999999999999999` is not a whole number in [0, 2^53]
        --histogram 5,9007199254740993 --neighbor 4,4 --noise gaussian:1 => 2: invalid value '5,9007199254740993' for '--histogram <HISTOGRAM>': `9007199254740993` is not a whole number in [0, 2^53]
        --histogram 5,3 --neighbor 4,4,0 --noise gaussian:1 => 2: histogram of the neighbor has length 3; expected 2 classes, as the other histogram
        --histogram 9007199254740992,0 --neighbor 9007199254740991,1 --noise gaussian:1e-300 => 2: spread of the counts over the noise scale = inf is not in [0, 1e17]
        --histogram 9007199254740992,0 --neighbor 9007199254740991,1 --noise laplace:1e-100 => 2: spread of the counts over the noise scale = 9.007199254740992e115 is not in [0, 1e100]
        --histogram 5 --worst-neighbor moved --noise gaussian:1 => 2: worst neighbor: the histogram has 0 different neighbors; 1 to 50000 are searched
        --histogram 0,0 --worst-neighbor removed --noise gaussian:1 => 2: worst neighbor: the histogram has 0 different neighbors; 1 to 50000 are searched
        --histogram 5,3 --worst-neighbor swapped --noise gaussian:1 => 2: invalid value 'swapped' for '--worst-neighbor <ADJACENCY>': `swapped` is not moved, added, removed or shifted
    "#;
    desk.rejects("exact", rows);
    let distinct = (0..300).map(|count| count.to_string()).collect::<Vec<_>>().join(",");
    let searched = "2: worst neighbor: the histogram has 89401 different neighbors; 1 to 50000 are searched";
    desk.rejects("exact --worst-neighbor moved --noise gaussian:1 --histogram", &format!("{distinct} => {searched}"));
    // A long value is not repeated whole.
    let wide = vec!["1"; 10_001].join(",");
    let line = desk.rejected(2, &["exact", "--histogram", &wide, "--neighbor", "1", "--noise", "gaussian:1"]);
    let expected = "vote histogram has length 10001; expected 1 to 10000 classes";
    assert!(line.len() < 400 && line.ends_with(expected), "{line}");
}

#[test]
fn mechanisms() {
    let desk = Desk::new();
    let rows = r"
        --mechanism laplac:sigma=1 => 2: …'--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: `laplac` is none; there are laplace, …
        --mechanism gaussian => 2: invalid value 'gaussian' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: sigma is missing
        --mechanism gaussian:sigma => 2: invalid value 'gaussian:sigma' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: `sigma` is not of the form name=value
        --mechanism gaussian:rate=1 => 2: invalid value 'gaussian:rate=1' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: `rate` is no parameter of gaussian; it has sigma
        --mechanism gaussian:sigma=inf => 2: invalid value 'gaussian:sigma=inf' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: sigma: noise scale = inf is not in (0, inf)
        --mechanism gaussian:sigma=nan => 2: invalid value 'gaussian:sigma=nan' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: sigma: noise scale = NaN is not in (0, inf)
        --mechanism subsampled-gaussian:sigma=1,rate=2 => 2: invalid value 'subsampled-gaussian:sigma=1,rate=2' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: rate: probability = 2 is not in [0, 1]
        --mechanism gaussian:sigma=1e-300 => 2: order over noise scale = 9.999999999999999e299 is not in [0, 1e12)
        --mechanism randomized-response:sigma=1e-320 --histogram 1,0 --neighbor 0,1 => 2: mechanism: an infinite epsilon always answers the truth
        --mechanism gaussian:sigma=1 --histogram 3,1 => 2: mechanism: a number has the histogram 0, which one record makes 1
        --mechanism gaussian:sigma=1 --neighbor 2 => 2: mechanism: a number has the histogram 0, which one record makes 1
        --mechanism gaussian:sigma=1 --worst-neighbor moved => 2: --worst-neighbor: no vote of this histogram can be moved; neighbors of gaussian have a vote added or removed
        --mechanism gaussian:sigma=1 --worst-neighbor removed => 2: --worst-neighbor: no vote of this histogram can be removed; neighbors of gaussian have a vote added or removed
        --mechanism randomized-response:sigma=1 --histogram 1,1 --neighbor 2,0 => 2: mechanism: the data are the vote of one voter
        --mechanism randomized-response:sigma=1 --histogram 1,0 --worst-neighbor added => 2: mechanism: the data are the vote of one voter
        --mechanism randomized-response:sigma=1 --histogram 1,0 --neighbor 0,1,0 => 2: histogram of the neighbor has length 3; expected 2 classes, as the other histogram
        --mechanism exponential:sigma=1 => 2: --histogram: exponential needs the votes per class, such as 3,1
        --mechanism exponential:sigma=1 --histogram 3,1 => 2: --neighbor: exponential needs the votes per class of the neighbor, or --worst-neighbor moved
        --noise gaussian:1 --histogram 2,2 --neighbor 3,1 --deltas 1e-5,1 => 2: invalid value '1' for '--deltas <D,...>': delta = 1 is not in [0, 1)
    ";
    desk.rejects("exact", rows);
}

#[test]
fn options_that_exclude_or_need_each_other() {
    for (words, sentence) in [
        (
            "--mechanism exponential:sigma=1 --neighbor 2,2 --worst-neighbor moved",
            "'--neighbor <NEIGHBOR>' cannot be used",
        ),
        ("--mechanism exponential:sigma=1 --noise gaussian:1", "cannot be used with '--noise <NOISE>'"),
        ("--mechanism gnmax:sigma=1 --threshold 2 --threshold-noise gaussian:1", "--threshold <T>"),
        ("--mechanism gnmax:sigma=1 --threshold-form max", "--threshold-form"),
        ("--neighbor 2,2 --histogram 3,1", "not provided:\n  --noise <NOISE>"),
        ("--noise gaussian:1 --neighbor 2,2", "not provided:\n  --histogram <HISTOGRAM>"),
        ("--noise gaussian:1 --histogram 2,2", "not provided:\n  --neighbor <NEIGHBOR>"),
    ] {
        let ran = Desk::root().run(&format!("exact {words}"));
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran:?}");
        assert!(ran.stderr.contains(sentence), "{ran:?}");
    }
}

#[test]
fn paths() {
    let desk = Desk::new();
    desk.file("a.csv", GOOD);
    fs::create_dir(desk.path("folder")).unwrap();
    let rows = r"
        audit counts none.csv => 1: none.csv: cannot read: No such file or directory (os error 2)
        audit counts folder => 1: folder: whole file: found a directory, expected a file; hint: name one file inside it
        audit counts a.csv/inside => 1: a.csv/inside: cannot read: Not a directory (os error 20)
        audit counts '' => 2: a value is required for '<FILE>' but none was supplied
        audit counts 'two\nlines\e[2J.csv' => 1: two\nlines\u{1b}[2J.csv: cannot read: No such file or directory (os error 2)
        audit votes none.npz --model pate --noise gaussian:1 => 1: none.npz: cannot read: No such file or directory (os error 2)
        audit votes folder --model pate --noise gaussian:1 => 1: folder: whole file: found a directory, expected a file; hint: name one file inside it
        audit votes a.csv --model pate --noise gaussian:1 => 1: a.csv: whole file: found a file that starts with 6f 75 74 63 6f 6d, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
        exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --output folder => 1: folder: cannot write: is a directory
        exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --output none/result => 1: none/result: cannot write: No such file or directory (os error 2)
        exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --output a.csv/result => 1: a.csv/result: cannot write: Not a directory (os error 20)
        exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 --output 'no\nne/result' => 1: no\nne/result: cannot write: No such file or directory (os error 2)
    ";
    desk.rejects("", rows);
}

/// Two gigabytes that take no room on the disk: rejected from their first bytes.
#[test]
fn huge_files_of_zeros() {
    let desk = Desk::new();
    let zeros = |name: &str, start: &[u8]| {
        File::options().write(true).open(desk.file(name, start)).unwrap().set_len(2 << 30).unwrap();
    };
    zeros("a.csv", b"");
    zeros("b.csv", GOOD.as_bytes());
    zeros("a.npz", b"");
    zeros("b.npz", b"PK\x03\x04");
    let rows = r"
        counts a.csv => 1: a.csv: byte 0: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
        counts b.csv => 1: b.csv: byte 45: found a zero byte, expected recorded counts as CSV or JSON; hint: this is binary data, not text
        votes a.npz --model pate --noise gaussian:1 => 1: a.npz: whole file: found a file that starts with 00 00 00 00 00 00, expected a numpy archive (.npz); hint: write it with numpy.savez_compressed
        votes b.npz --model pate --noise gaussian:1 => 1: b.npz: whole file: found an archive without its directory, expected a complete numpy archive (.npz); hint: the file may be cut off
    ";
    desk.rejects("audit", rows);
}

/// The system's reason for a full disk is passed on.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told() {
    let run = |more: &str| {
        let words = format!("exact --histogram 5,3 --neighbor 4,4 --noise gaussian:1 {more}");
        let full = File::options().write(true).open("/dev/full").unwrap();
        crate::desk::Ran::of(Desk::new().command(&words).stdout(full)).line(1)
    };
    let reason = "cannot write: No space left on device (os error 28)";
    assert_eq!(run(""), format!("stdout: {reason}"));
    assert_eq!(run("--output /dev/full"), format!("/dev/full: {reason}"));
}
