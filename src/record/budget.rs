//! Memory limit for input, checked before anything is allocated.

use super::fault::hinted;
use crate::error::{Error, InputError, Result};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use sysinfo::{MemoryRefreshKind, RefreshKind, System};

/// The most memory that the contents of one recording may take.
///
/// A small archive may unpack to any size, and a header may declare one. Readers compare the size of what they will
/// hold, in the form in which they hold it, with this budget before they allocate.
///
/// ```
/// # use leakbound::record::MemoryBudget;
/// let budget: MemoryBudget = "1.5G".parse()?;
/// assert_eq!((budget.bytes(), budget.to_string()), (3 << 29, "1.5 GiB".into()));
/// # Ok::<(), leakbound::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct MemoryBudget {
    bytes: u64,
}

impl MemoryBudget {
    /// A budget of this many bytes.
    #[must_use]
    pub const fn of_bytes(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Half of the memory that is free on this machine now, within the limit of its container; without a limit if the
    /// system does not report it.
    #[must_use]
    pub fn of_machine() -> Self {
        Self { bytes: free_memory().map_or(u64::MAX, |free| free / 2) }
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.bytes
    }
}

impl Default for MemoryBudget {
    fn default() -> Self {
        Self::of_machine()
    }
}

impl fmt::Display for MemoryBudget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&size(self.bytes))
    }
}

impl FromStr for MemoryBudget {
    type Err = Error;

    /// A number of bytes with a unit: `4G`, `512M` or `1.5GiB`, in powers of 1024.
    fn from_str(text: &str) -> Result<Self> {
        let rejected = || Error::Syntax {
            quantity: "amount of memory",
            value: text.chars().take(60).collect(),
            expected: "a number with K, M, G or T, such as 4G",
        };
        let trimmed = text.trim();
        let digits = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(rejected)?;
        let (number, unit) = trimmed.split_at(digits);
        let unit = unit.trim().to_ascii_lowercase();
        let letter = unit.strip_suffix("ib").or_else(|| unit.strip_suffix('b')).unwrap_or(&unit);
        let power = ["k", "m", "g", "t"].iter().position(|known| *known == letter).ok_or_else(rejected)?;
        let number: f64 = number.parse().map_err(|_| rejected())?;
        let bytes = number * 1024f64.powi(power as i32 + 1);
        // Above, a double no longer holds every whole number; no machine has as much.
        if !(1.0..=9.0e15).contains(&bytes) {
            return Err(rejected());
        }
        Ok(Self { bytes: bytes as u64 })
    }
}

/// Bytes that are free on this machine, within the limit of this container; `None` if that is unknown.
#[must_use]
pub fn free_memory() -> Option<u64> {
    let memory = RefreshKind::nothing().with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(memory).ok()?;
    // For a container its limit, not the rest of it: files that were read count as used, but are released on demand.
    let limit = system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory);
    Some(system.available_memory().min(limit)).filter(|&free| free > 0)
}

/// A number of bytes for a reader.
fn size(bytes: u64) -> String {
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        if value < 1024.0 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    if unit == "bytes" { format!("{bytes} bytes") } else { format!("{value:.1} {unit}") }
}

/// What is left of a budget while a recording is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    budget: MemoryBudget,
    taken: u64,
}

impl Room {
    pub(super) const fn new(budget: MemoryBudget) -> Self {
        Self { budget, taken: 0 }
    }

    /// Counts `count` items of this many bytes each; `at` makes the error from what was found and what was expected.
    pub(super) fn take(&mut self, count: u64, bytes: u64, at: impl FnOnce(String, String) -> InputError) -> Result<()> {
        self.counted(count, bytes).map_err(|[found, expected]| too_large(at(found, expected)))
    }

    /// The same, or what was found and what was expected.
    fn counted(&mut self, count: u64, bytes: u64) -> std::result::Result<(), [String; 2]> {
        let wanted = self.taken.saturating_add(count.saturating_mul(bytes));
        if wanted > self.budget.bytes {
            return Err([memory(wanted), format!("at most {}", self.budget)]);
        }
        self.taken = wanted;
        Ok(())
    }

    /// An empty vector with room for `count` things, which are counted.
    pub(super) fn vector<T>(&mut self, count: u64, at: impl Fn(String, String) -> InputError) -> Result<Vec<T>> {
        self.take(count, size_of::<T>() as u64, &at)?;
        let mut vector = Vec::new();
        reserve(&mut vector, count, at)?;
        Ok(vector)
    }

    /// Adds to a vector whose length is not known in advance; it doubles, and is counted when it does.
    pub(super) fn push<T>(
        &mut self,
        vector: &mut Vec<T>,
        value: T,
        at: impl Fn(String, String) -> InputError,
    ) -> Result<()> {
        if vector.len() == vector.capacity() {
            let more = (vector.len() as u64).max(64);
            self.take(more, size_of::<T>() as u64, &at)?;
            reserve(vector, more, at)?;
        }
        vector.push(value);
        Ok(())
    }
}

/// Asks the system for room for `count` more things.
pub(super) fn reserve<T>(vector: &mut Vec<T>, count: u64, at: impl FnOnce(String, String) -> InputError) -> Result<()> {
    if usize::try_from(count).is_ok_and(|count| vector.try_reserve_exact(count).is_ok()) {
        return Ok(());
    }
    let found = memory(count.saturating_mul(size_of::<T>() as u64));
    Err(hinted(at(found, "no more than the system gives".into()), "split the recording").into())
}

fn memory(bytes: u64) -> String {
    format!("data that take {} of memory", size(bytes))
}

/// Adds advice, unless the error has some.
fn too_large(error: InputError) -> Error {
    let hint = "split the recording, or allow more (`max-memory`) where the machine has it";
    InputError { hint: error.hint.clone().or(Some(hint.into())), ..error }.into()
}

#[cfg(test)]
mod tests {
    use super::super::fault::fault;
    use super::*;
    use std::path::Path;

    #[test]
    fn amounts_are_read_with_their_units() {
        let bytes = |text: &str| text.parse::<MemoryBudget>().ok().map(MemoryBudget::bytes);
        assert_eq!(bytes("4G"), Some(4 << 30));
        assert_eq!(bytes(" 512 MiB"), Some(512 << 20));
        assert_eq!(bytes("1kb"), Some(1024));
        for text in ["", "4", "G", "-1G", "0G", "nanG", "1e3G", "4X", "99999T", "1.2.3G"] {
            assert_eq!(bytes(text), None, "{text}");
        }
        assert_eq!(MemoryBudget::of_bytes(1023).to_string(), "1023 bytes");
        assert!(MemoryBudget::of_machine().bytes() > 1 << 20);
    }

    #[test]
    fn what_does_not_fit_is_rejected_before_it_is_allocated() {
        let at = |found, expected| fault(Path::new("f"), "array", found, expected);
        let mut room = Room::new(MemoryBudget::of_bytes(1 << 20));
        assert_eq!(room.vector::<u64>(1 << 16, at).unwrap().capacity(), 1 << 16);
        let error = room.vector::<u64>(1 << 17, at).unwrap_err().to_string();
        assert_eq!(
            error,
            "f: array: found data that take 1.5 MiB of memory, expected at most 1.0 MiB; hint: split the recording, \
             or allow more (`max-memory`) where the machine has it"
        );
        let mut all = Room::new(MemoryBudget::of_bytes(u64::MAX));
        assert!(all.vector::<u64>(1 << 60, at).unwrap_err().to_string().contains("than the system gives"));
        let (mut few, mut numbers) = (Room::new(MemoryBudget::of_bytes(4096)), Vec::new());
        let pushed = (0..10_000u64).take_while(|&n| few.push(&mut numbers, n, at).is_ok()).count();
        assert_eq!(pushed, 512);
    }
}
