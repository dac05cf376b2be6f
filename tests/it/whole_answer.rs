//! One failure probability for all numbers of an answer: whichever of them a reader picks, the largest included.

use crate::desk::{Desk, json, stdout};
use crate::json::{row, rows};
use leakbound::audit::{AuditPlan, FailureBudget, FailurePer, Guide, Method, SetSource, audit_counts};
use leakbound::bound::Direction;
use leakbound::counts::PairedCounts;
use leakbound::distribution::OutcomeDistribution;
use leakbound::divergence::{epsilon_at_delta, renyi_divergence};
use leakbound::quantity::{Delta, FailureProbability, Order};
use leakbound::simulate::{Simulation, sample_distributions};
use leakbound_validation::audit_cases::plan;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeSet;

const METHODS: [Method; 3] = [Method::KCutRegion, Method::KCutVariational, Method::ClopperPearson];
const QUERIES: u64 = 60;
const ANSWERS: u64 = 24;

/// Distributions of 60 queries of which some hardly differ, as those of recorded votes.
fn distributions(query: u64) -> [OutcomeDistribution; 2] {
    let shift = 1e-3 * (query % 6) as f64;
    let distribution = |p: f64| OutcomeDistribution::from_probabilities(&[p, 0.3, 0.7 - p]).unwrap();
    [distribution(0.5), distribution(0.5 - shift)]
}

/// Whether any bound of a query is above the truth.
fn is_wrong(seed: u64, query: u64, budget: &FailureBudget) -> bool {
    let [p, q] = distributions(query);
    let simulation = Simulation::new(20_000).unwrap().seed(seed).query(query);
    let counts: PairedCounts = sample_distributions(&p, &q, simulation).unwrap();
    let plan = plan([2.0, 8.0, 64.0].map(|order| Order::new(order).unwrap()).to_vec(), METHODS.to_vec()).unwrap();
    let (delta, failure) = (Delta::new(1e-3).unwrap(), budget.share());
    let plan = AuditPlan { delta, failure, seed, resamples: 100, ..plan };
    let guide =
        Guide::from_distributions(&p, &q, &plan.orders, &plan.directions, SetSource::ExactDistribution).unwrap();
    let audit = audit_counts(&counts, &guide, &plan).unwrap();
    let pair = |direction| if direction == Direction::Forward { (&p, &q) } else { (&q, &p) };
    let rdp = audit.rdp.iter().any(|row| {
        let (from, to) = pair(row.direction);
        row.bound.value > renyi_divergence(from, to, row.order).unwrap() * (1.0 + 1e-12)
    });
    rdp || audit.epsilon.iter().any(|row| {
        let (from, to) = pair(row.direction);
        row.bound.value > epsilon_at_delta(from, to, row.delta).unwrap().get() + 1e-12
    })
}

/// Answers of 60 queries with any wrong bound, and wrong queries, among so many seeds.
fn wrong(per: FailurePer, failure: f64) -> [usize; 2] {
    let stated = FailureProbability::new(failure).unwrap();
    let (p, q) = (distributions(1), Order::new(2.0).unwrap());
    let guide = Guide::from_distributions(&p[0], &p[1], &[q], &Direction::BOTH, SetSource::ExactDistribution).unwrap();
    let budget = FailureBudget::new(stated, per, QUERIES as usize).events(guide.events(&METHODS).len());
    let queries = |seed: u64| (0..QUERIES).into_par_iter().filter(|&query| is_wrong(seed, query, &budget)).count();
    let of_answers: Vec<usize> = (0..ANSWERS).map(queries).collect();
    [of_answers.iter().filter(|&&queries| queries > 0).count(), of_answers.iter().sum()]
}

/// At a failure probability of 0.3 an answer of 60 queries and three methods has a wrong number in at most 0.3 of all
/// cases: of 24 answers in 16 or more with probability 2e-4 if it were exactly that. Where each method on each query
/// has it for itself nearly every answer has a wrong number, which is what the default protects a reader from.
#[test]
fn whatever_number_is_picked_the_stated_probability_covers_it() {
    let shared = wrong(FailurePer::Answer, 0.3);
    let each = wrong(FailurePer::Query, 0.3);
    println!("answers and queries with a wrong bound: {shared:?} shared, {each:?} each");
    assert!(shared[0] < 16, "{shared:?}");
    assert!(each[0] > 20 && each[1] > 10 * shared[1], "{each:?} {shared:?}");
}

/// Pairs of method and query times their share, and the joint bound, spend what was stated.
#[test]
fn an_answer_spends_the_stated_probability_once() {
    let desk = Desk::new();
    desk.file(
        "counts.csv",
        "query,outcome,count,count_neighbor\na,x,6000,5000\na,y,4000,5000\na,z,10,20\nb,x,500,400\nb,y,500,600\nb,z,9,8\n",
    );
    let audit = |more: &str| desk.json(&format!("audit counts counts.csv --orders 2,8 {more}"));
    let shares = |document: &Value| -> BTreeSet<String> {
        let all = rows(&document["bounds"]).iter().chain(rows(&document["epsilon"]));
        let guaranteed = all.filter(|row| row["validity"] == "finite-sample");
        guaranteed.map(|row| row["failure_probability"].to_string()).collect()
    };
    // Two queries; two-cut-corner and clopper-pearson read from the same limits, k-cut-box from its own.
    let document = audit("--methods two-cut-corner,clopper-pearson");
    assert_eq!(shares(&document), ["0.025".to_owned()].into());
    let document = audit("--methods two-cut-corner,clopper-pearson,k-cut-box,jeffreys");
    assert_eq!(shares(&document), ["0.0125".to_owned()].into());
    assert_eq!((&document["failure"]["per"], &document["failure"]["share"]), (&"answer".into(), &0.0125.into()));
    assert_eq!(row(&document["epsilon"], "method", "jeffreys")["failure_probability"], 0.05);
    // Without a pilot δ and μ are read from limits of single outcomes, which are an event of their own.
    let document = audit("--methods two-cut-corner,clopper-pearson --epsilons 0.5");
    assert_eq!(shares(&document), ["0.0125".to_owned()].into());
    assert_eq!(document["trade_off"][0]["failure_probability"], 0.0125);
    // A pilot, with regions for the queries together, a joint bound and a claim about both.
    let more = "--pilot-fraction 0.2 --methods k-cut-variational,clopper-pearson --composition independent";
    let document = audit(&format!("{more} --claim-rdp 2:9 --claim-epsilon 9 --epsilons 0.5"));
    // Limits, tangents, region and band for each query, and one event for the joint bound.
    assert_eq!(shares(&document), ["0.005".to_owned()].into());
    assert_eq!(document["failure"]["joint_share"], 0.01);
    assert_eq!(document["trade_off"][0]["failure_probability"], 0.005);
    let document = audit(&format!("{more} --failure-per query"));
    assert_eq!((shares(&document), &document["failure"]["per"]), (["0.05".to_owned()].into(), &"query".into()));
}

/// What --failure-per query prints does not depend on how many queries and methods there are.
#[test]
fn each_method_of_a_query_can_have_the_probability_for_itself() {
    let votes =
        "audit votes validation/data/fashion_votes.npz --model pate --noise gaussian:40 --samples 1e5 --orders 2";
    let all = json(&format!("{votes} --queries 18,42 --failure-per query"));
    let one = json(&format!("{votes} --queries 42"));
    let alone = json(&format!("{votes} --queries 42 --failure-per query"));
    assert_eq!(all["queries"][1]["lower"], alone["queries"][0]["lower"]);
    assert_eq!(alone["failure"]["share"], 0.05);
    // The region, also of the composed curves, and the limits behind epsilon.
    assert_eq!(one["failure"]["share"], 0.025);
    // Parts of an audit share what the whole has.
    let part = json(&format!("{votes} --queries 42 --answer-queries 2"));
    let whole = json(&format!("{votes} --queries 18,42"));
    assert_eq!(part["queries"][0], whole["queries"][1]);
}

#[test]
fn the_text_says_what_the_probability_is_for() {
    let confusion = "audit confusion --tp 90 --fn 10 --fp 5 --tn 95 --orders 2";
    let line = |more: &str| {
        let text = stdout(&format!("{confusion} {more}"));
        text.lines().nth(1).unwrap().to_owned()
    };
    assert_eq!(line(""), "failure probability 0.05 for all numbers of this answer together");
    assert_eq!(
        line("--methods two-cut-half-space,clopper-pearson,katz-log"),
        "failure probability 0.05 for all numbers of this answer together, 0.0250 per query and method; methods without \
         a finite-sample guarantee have 0.05 each, nominally"
    );
    assert_eq!(line("--failure-per query"), "failure probability 0.05 per query and method");
}
