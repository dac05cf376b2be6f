//! `exact`: histograms.

use crate::desk::Desk;

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
        histogram of the neighbor has length 3; expected 2 classes, as the other histogram
        spread of the counts over the noise scale = inf is not in [0, 1e17]
        spread of the counts over the noise scale = 9.007199254740992e115 is not in [0, 1e100]
        worst neighbor: the histogram has 0 different neighbors; 1 to 50000 are searched
        worst neighbor: the histogram has 0 different neighbors; 1 to 50000 are searched
        invalid value 'swapped' for '--worst-neighbor <ADJACENCY>': `swapped` is not moved, added or removed
        worst neighbor: the histogram has 89401 different neighbors; 1 to 50000 are searched
        "
    );
    // A long value is not repeated whole.
    let line = pair(&wide, "1", "gaussian:1");
    assert!(
        line.len() < 400 && line.ends_with("vote histogram has length 10001; expected 1 to 10000 classes"),
        "{line}"
    );
}
