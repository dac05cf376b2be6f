//! `exact`: histograms.

use crate::desk::Desk;

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
