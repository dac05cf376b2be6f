//! Values of options, of all commands.

use super::GOOD;
use crate::desk::Desk;

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
