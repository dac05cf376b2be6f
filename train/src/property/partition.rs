//! Images with a property, dealt out.

use crate::seed::{Purpose, stream};
use crate::training_images::Example;
use leakbound::error::{Error, Result};
use rand::seq::SliceRandom;

/// Leaves a share of the images of one class (the nearest whole number of them) at random, and deals out what is left
/// to so many networks, as many images to each.
///
/// Of each `phase` the choice and the order are other ones.
///
/// # Errors
/// [`Error::Rejected`] if there are fewer images than networks.
pub(super) fn deal(
    images: &[u32],
    labels: &[u8],
    (class, share): (u8, f64),
    networks: usize,
    (seed, phase): (u64, u64),
) -> Result<Vec<Vec<Example>>> {
    let mut order = images.to_vec();
    order.shuffle(&mut stream(seed, Purpose::Split, phase, 0));
    let of_class = |image: &u32| labels[*image as usize] == class;
    let mut left = (share * order.iter().filter(|image| of_class(image)).count() as f64).round() as usize;
    order.retain(|image| {
        let stays = !of_class(image) || left > 0;
        left -= usize::from(stays && of_class(image));
        stays
    });
    let each = order.len() / networks;
    if each == 0 {
        let reason = format!("{} images for {networks} networks", order.len());
        return Err(Error::Rejected { operation: "property", reason });
    }
    Ok(order
        .chunks_exact(each)
        .take(networks)
        .map(|part| part.iter().map(|&n| Example::labeled(n)).collect())
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_reduced_and_nothing_is_dealt_twice() {
        let labels: Vec<u8> = (0..100).map(|image| image % 5).collect();
        let images: Vec<u32> = (0..100).collect();
        let parts = deal(&images, &labels, (2, 0.25), 5, (1, 0)).unwrap();
        assert!(parts.len() == 5 && parts.iter().all(|part| part.len() == 17));
        let mut dealt: Vec<u32> = parts.concat().iter().map(|example| example.image).collect();
        dealt.sort_unstable();
        assert!(dealt.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(dealt.iter().filter(|&&image| labels[image as usize] == 2).count(), 5);
        assert_ne!(parts, deal(&images, &labels, (2, 0.25), 5, (1, 1)).unwrap());
        let message = deal(&images[..3], &labels, (2, 1.0), 5, (1, 0)).unwrap_err().to_string();
        assert_eq!(message, "property: 3 images for 5 networks");
    }
}
