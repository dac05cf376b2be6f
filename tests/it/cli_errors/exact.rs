//! `exact`: histograms.

use crate::desk::{Desk, says};

#[test]
fn histograms() {
    let desk = Desk::new();
    let pair = |histogram: &str, neighbor: &str, noise: &str| {
        desk.rejected(2, &["exact", "--histogram", histogram, "--neighbor", neighbor, "--noise", noise])
    };
    let worst = |histogram: &str, adjacency: &str| {
        desk.rejected(2, &["exact", "--histogram", histogram, "--worst-neighbor", adjacency, "--noise", "gaussian:1"])
    };
    let wide = vec!["1"; 10_001].join(",");
    let distinct = (0..300).map(|count| count.to_string()).collect::<Vec<_>>().join(",");
    let lines = [
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
    ];
    insta::assert_snapshot!(lines.join("\n"), @r"
    invalid value '' for '--histogram <HISTOGRAM>': `` is not a whole number in [0, 2^53]
    invalid value '5,,3' for '--histogram <HISTOGRAM>': `` is not a whole number in [0, 2^53]
    invalid value '5,-3' for '--histogram <HISTOGRAM>': `-3` is not a whole number in [0, 2^53]
    invalid value '5,2.5' for '--histogram <HISTOGRAM>': `2.5` is not a whole number in [0, 2^53]
    invalid value '5,99999999999999999999' for '--histogram <HISTOGRAM>': `99999999999999999999` is not a whole number in [0, 2^53]
    invalid value '5,9007199254740993' for '--histogram <HISTOGRAM>': `9007199254740993` is not a whole number in [0, 2^53]
    histogram of the neighbor has length 3; expected 2 classes, as the other histogram
    spread of the counts over the noise scale = inf is not in [0, 1e17]
    spread of the counts over the noise scale = 9.007199254740992e115 is not in [0, 1e100]
    worst neighbor: the histogram has 0 different neighbors; 1 to 50000 are searched
    worst neighbor: the histogram has 0 different neighbors; 1 to 50000 are searched
    invalid value 'swapped' for '--worst-neighbor <ADJACENCY>': `swapped` is not moved, added, removed or shifted
    worst neighbor: the histogram has 89401 different neighbors; 1 to 50000 are searched
    ");
    // A long value is not repeated whole.
    let line = pair(&wide, "1", "gaussian:1");
    let expected = "vote histogram has length 10001; expected 1 to 10000 classes";
    assert!(line.len() < 400 && line.ends_with(expected), "{line}");
}

#[test]
fn mechanisms() {
    let desk = Desk::new();
    let of = |words: &str| desk.rejected(2, &format!("exact {words}"));
    let unknown = of("--mechanism laplac:sigma=1");
    says(&unknown, &["'--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: `laplac` is none; there are laplace, "]);
    let lines = [
        of("--mechanism gaussian"),
        of("--mechanism gaussian:sigma"),
        of("--mechanism gaussian:rate=1"),
        of("--mechanism gaussian:sigma=inf"),
        of("--mechanism gaussian:sigma=nan"),
        of("--mechanism subsampled-gaussian:sigma=1,rate=2"),
        of("--mechanism gaussian:sigma=1e-300"),
        of("--mechanism randomized-response:sigma=1e-320 --histogram 1,0 --neighbor 0,1"),
        of("--mechanism gaussian:sigma=1 --histogram 3,1"),
        of("--mechanism gaussian:sigma=1 --neighbor 2"),
        of("--mechanism gaussian:sigma=1 --worst-neighbor moved"),
        of("--mechanism gaussian:sigma=1 --worst-neighbor removed"),
        of("--mechanism randomized-response:sigma=1 --histogram 1,1 --neighbor 2,0"),
        of("--mechanism randomized-response:sigma=1 --histogram 1,0 --worst-neighbor added"),
        of("--mechanism randomized-response:sigma=1 --histogram 1,0 --neighbor 0,1,0"),
        of("--mechanism exponential:sigma=1"),
        of("--mechanism exponential:sigma=1 --histogram 3,1"),
        of("--noise gaussian:1 --histogram 2,2 --neighbor 3,1 --deltas 1e-5,1"),
    ];
    insta::assert_snapshot!(lines.join("\n"), @"
    invalid value 'gaussian' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: sigma is missing
    invalid value 'gaussian:sigma' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: `sigma` is not of the form name=value
    invalid value 'gaussian:rate=1' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: `rate` is no parameter of gaussian; it has sigma
    invalid value 'gaussian:sigma=inf' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: sigma: noise scale = inf is not in (0, inf)
    invalid value 'gaussian:sigma=nan' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: sigma: noise scale = NaN is not in (0, inf)
    invalid value 'subsampled-gaussian:sigma=1,rate=2' for '--mechanism <NAME:PARAMETER=VALUE,...>': mechanism: rate: probability = 2 is not in [0, 1]
    order over noise scale = 9.999999999999999e299 is not in [0, 1e12)
    mechanism: an infinite epsilon always answers the truth
    mechanism: a number has the histogram 0, which one record makes 1
    mechanism: a number has the histogram 0, which one record makes 1
    --worst-neighbor: no vote of this histogram can be moved; neighbors of gaussian have a vote added or removed
    --worst-neighbor: no vote of this histogram can be removed; neighbors of gaussian have a vote added or removed
    mechanism: the data are the vote of one voter
    mechanism: the data are the vote of one voter
    histogram of the neighbor has length 3; expected 2 classes, as the other histogram
    --histogram: exponential needs the votes per class, such as 3,1
    --neighbor: exponential needs the votes per class of the neighbor, or --worst-neighbor moved
    invalid value '1' for '--deltas <D,...>': delta = 1 is not in [0, 1)
    ");
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
