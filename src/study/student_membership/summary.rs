//! All students of a budget, and what was published about them.

use super::answer::{AttackedStudentRow, BudgetMembershipRow, StudentFinding, StudentFindingRow};
use crate::study::membership::Decision;
use crate::study::number::Number;

/// What counts as nothing: an AUC this far from 0.5, and one that rises by this much.
const MARGIN: f64 = 0.05;

/// A row for each budget, rising; models without privacy last.
pub(super) fn budgets(students: &[AttackedStudentRow]) -> Vec<BudgetMembershipRow> {
    let mut known: Vec<f64> = students.iter().filter_map(|student| student.budget).map(|budget| budget.0).collect();
    known.sort_unstable_by(f64::total_cmp);
    known.dedup();
    let of = known.into_iter().map(|budget| Some(Number(budget))).chain([None]);
    of.filter_map(|budget| {
        let rows: Vec<_> = students.iter().filter(|student| student.budget == budget).collect();
        let mean = |value: &dyn Fn(&AttackedStudentRow) -> f64| {
            rows.iter().map(|row| value(row)).sum::<f64>() / rows.len() as f64
        };
        let aucs = || rows.iter().map(|row| row.threshold.auc);
        (!rows.is_empty()).then(|| BudgetMembershipRow {
            budget,
            students: rows.len(),
            auc: mean(&|row| row.threshold.auc),
            lower: mean(&|row| row.threshold.lower),
            upper: mean(&|row| row.threshold.upper),
            smallest: aucs().fold(1.0, f64::min),
            largest: aucs().fold(0.0, f64::max),
            attacker: mean(&|row| row.attacker.auc),
            tpr: mean(&|row| row.tpr),
            risk_near_half: mean(&|row| row.risk_near_half),
            risk_largest: rows.iter().map(|row| row.risk_largest).fold(0.0, f64::max),
        })
    })
    .collect()
}

/// What the limits of the students, which hold simultaneously, show about the published findings.
pub(super) fn findings(students: &[AttackedStudentRow]) -> Vec<StudentFindingRow> {
    let private: Vec<_> = students.iter().filter(|student| student.budget.is_some()).collect();
    let all = || private.iter().flat_map(|student| [student.threshold, student.attacker]);
    let near = if all().all(|row| row.lower >= 0.5 - MARGIN && row.upper <= 0.5 + MARGIN) {
        Decision::Agrees
    } else if all().any(|row| row.lower > 0.5 + MARGIN || row.upper < 0.5 - MARGIN) {
        Decision::Differs
    } else {
        Decision::Undecided
    };
    let mut findings = vec![StudentFindingRow { finding: StudentFinding::NearGuessing, decision: near }];
    let rows = budgets(students);
    let mut of_budgets = rows.iter().filter(|row| row.budget.is_some());
    if let (Some(first), Some(last)) = (of_budgets.next(), of_budgets.next_back()) {
        let decision = Decision::of([MARGIN; 2], [last.lower - first.upper, last.upper - first.lower]);
        findings.push(StudentFindingRow { finding: StudentFinding::NoRise, decision });
    }
    findings
}
