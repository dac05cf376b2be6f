//! Intervals halved as far as the precision of doubles allows.

/// The two numbers between which `is_low` changes from true to false, given two numbers, the first of them low:
/// neighboring doubles, unless this number of steps is reached first.
pub(super) fn halved(mut low: f64, mut high: f64, steps: u32, is_low: impl Fn(f64) -> bool) -> (f64, f64) {
    for _ in 0..steps {
        let middle = 0.5 * (low + high);
        if !(middle > low && middle < high) {
            break;
        }
        if is_low(middle) { low = middle } else { high = middle }
    }
    (low, high)
}
