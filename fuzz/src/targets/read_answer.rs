//! Any line as a mechanism, a case, and the answer of an external accountant: a number, a reason or a fault, each on
//! one line, and never a panic.

use leakbound::mechanism;
use leakbound::verify::{AccountantAnswer, Case, read_answer};

pub fn run(bytes: &[u8]) {
    let Ok(line) = std::str::from_utf8(bytes) else { return };
    match read_answer(line) {
        Ok(AccountantAnswer::Value(_)) => {}
        Ok(AccountantAnswer::Declined(reason)) => assert!(!reason.contains('\n'), "{reason:?}"),
        Ok(AccountantAnswer::Fault(fault)) | Err(fault) => {
            assert!(!fault.message.contains('\n') && fault.message.len() < 2_000, "{fault:?}");
        }
    }
    // The same bytes as a case: what is read is written and read again as it is.
    if let Ok(case) = Case::from_json(line) {
        assert_eq!(Case::from_json(&case.json()).expect("a case"), case);
    }
    // And as the text form of a mechanism.
    match mechanism::parse(line) {
        Ok(found) => assert!(*mechanism::parse(&found.to_string()).expect("a mechanism") == *found),
        Err(error) => assert!(!error.to_string().contains('\n') || line.contains('\n'), "{error}"),
    }
}
