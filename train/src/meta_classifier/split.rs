//! Which networks are learned from, and which are attacked.

use crate::seed::{Purpose, stream};
use leakbound::property::NetworkSplit;
use rand::seq::SliceRandom;

/// What network n of so many of one value is for: the last tenth is attacked, the tenth before it is for validation; at
/// least one network each.
pub(super) fn part(network: usize, networks: usize) -> NetworkSplit {
    let tenth = (networks / 10).max(1);
    if network + tenth >= networks {
        NetworkSplit::Test
    } else if network + 2 * tenth >= networks {
        NetworkSplit::Validation
    } else {
        NetworkSplit::Training
    }
}

/// Draws what recorded networks are for: of the networks of each value one tenth is attacked and one tenth is for
/// validation, at least one each.
///
/// `value` \[network\] counts from 0. The same seed gives the same parts.
///
/// # Example
/// ```
/// # use leakbound::property::NetworkSplit;
/// # use leakbound_train::split_networks;
/// let split = split_networks(&[0, 1].repeat(20), 0);
/// assert_eq!(split.iter().filter(|&&part| part == NetworkSplit::Test).count(), 4);
/// ```
#[must_use]
pub fn split_networks(value: &[usize], seed: u64) -> Vec<NetworkSplit> {
    let mut split = vec![NetworkSplit::Training; value.len()];
    for number in 0..=value.iter().copied().max().unwrap_or(0) {
        let mut networks: Vec<usize> = (0..value.len()).filter(|&network| value[network] == number).collect();
        networks.shuffle(&mut stream(seed, Purpose::NetworkSplit, number as u64, 0));
        for (place, &network) in networks.iter().enumerate() {
            split[network] = part(place, networks.len());
        }
    }
    split
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_every_part() {
        let value: Vec<usize> = (0..61).map(|network| network % 3).chain([3; 3]).collect();
        let split = split_networks(&value, 5);
        for (number, expected) in [(0, [17, 2, 2]), (1, [16, 2, 2]), (2, [16, 2, 2]), (3, [1, 1, 1])] {
            let of =
                |part| split.iter().zip(&value).filter(|&(split, value)| (*split, *value) == (part, number)).count();
            assert_eq!(NetworkSplit::ALL.map(of), expected);
        }
        assert_eq!(split, split_networks(&value, 5));
        assert_ne!(split, split_networks(&value, 6));
    }
}
