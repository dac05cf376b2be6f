//! Images with a property, dealt out.

use crate::checks::reject;
use crate::seed::{Purpose, stream};
use crate::training_images::Example;
use leakbound::error::Result;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Leaves a share of the images of one class (the nearest whole number of them) at random, and deals out what is left
/// to so many networks, as many images to each.
///
/// Of each `phase` the choice and the order are other ones.
///
/// # Errors
/// [`Error::Rejected`](leakbound::Error::Rejected) if there are fewer images than networks.
pub(super) fn deal(
    images: &[u32],
    labels: &[u8],
    (class, share): (u8, f64),
    networks: usize,
    (seed, phase): (u64, u64),
) -> Result<Vec<Vec<Example>>> {
    let order = reduced(images, labels, (class, share), &mut stream(seed, Purpose::Split, phase, 0));
    let each = order.len() / networks;
    if each == 0 {
        return reject("property", format!("{} images for {networks} networks", order.len()));
    }
    Ok(order.chunks_exact(each).take(networks).map(Example::all).collect())
}

/// Images in random order, of one class only a share of them (the nearest whole number), at random.
pub(crate) fn reduced(images: &[u32], labels: &[u8], (class, share): (u8, f64), stream: &mut ChaCha8Rng) -> Vec<u32> {
    let mut order = images.to_vec();
    order.shuffle(stream);
    let of_class = |image: &u32| labels[*image as usize] == class;
    let mut left = (share * order.iter().filter(|image| of_class(image)).count() as f64).round() as usize;
    order.retain(|image| {
        let stays = !of_class(image) || left > 0;
        left -= usize::from(stays && of_class(image));
        stays
    });
    // Those that stayed were the first of their class.
    order.shuffle(stream);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The images of the class that stay are as likely at the end as at the start: 500 of 4,500, of which the first half
    /// has 250 with a standard deviation of 10.5; five of them, false alarms in 6e-7 of seeds.
    #[test]
    fn what_stays_of_a_class_is_spread_over_all_networks() {
        let labels: Vec<u8> = (0..5000).map(|image| (image % 5) as u8).collect();
        let images: Vec<u32> = (0..5000).collect();
        let order = reduced(&images, &labels, (2, 0.5), &mut stream(3, Purpose::Split, 0, 0));
        let first = order[..order.len() / 2].iter().filter(|&&image| labels[image as usize] == 2).count();
        println!("{first} of 500");
        assert!(order.len() == 4500 && (198..=302).contains(&first));
    }

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
