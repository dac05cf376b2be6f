//! Operations that move pixels, as Pillow's `Image.transform` and `Image.rotate` have them without interpolation.

use super::canvas::Canvas;
use std::f64::consts::PI;

/// From a place (x, y) in the new image to (a x + b y + c, d x + e y + f) in the old one.
struct Affine {
    x: [f64; 3],
    y: [f64; 3],
}

/// Sheared along the rows: x + s y of the old image.
pub(super) fn shear_x(canvas: &mut Canvas, share: f64) {
    transform(canvas, &Affine { x: [1.0, share, 0.0], y: [0.0, 1.0, 0.0] });
}

/// Sheared along the columns: y + s x of the old image.
pub(super) fn shear_y(canvas: &mut Canvas, share: f64) {
    transform(canvas, &Affine { x: [1.0, 0.0, 0.0], y: [share, 1.0, 0.0] });
}

/// Moved to the left by a share of the columns.
pub(super) fn translate_x(canvas: &mut Canvas, share: f64) {
    let by = share * canvas.columns as f64;
    transform(canvas, &Affine { x: [1.0, 0.0, by], y: [0.0, 1.0, 0.0] });
}

/// Moved upwards by a share of the rows.
pub(super) fn translate_y(canvas: &mut Canvas, share: f64) {
    let by = share * canvas.rows as f64;
    transform(canvas, &Affine { x: [1.0, 0.0, 0.0], y: [0.0, 1.0, by] });
}

/// Turned around its center, counterclockwise, by this many degrees.
pub(super) fn rotate(canvas: &mut Canvas, degrees: f64) {
    let angle = -(degrees.rem_euclid(360.0) * (PI / 180.0));
    let [cos, sin] = [libm::cos(angle), libm::sin(angle)].map(fifteen_digits);
    let (across, down) = (canvas.columns as f64 / 2.0, canvas.rows as f64 / 2.0);
    let from = |a: f64, b: f64| a * -across + b * -down;
    let x = [cos, sin, from(cos, sin) + across];
    let y = [-sin, cos, from(-sin, cos) + down];
    transform(canvas, &Affine { x, y });
}

/// Rounded to 15 digits behind the point, as Pillow rounds the entries of a rotation.
fn fifteen_digits(number: f64) -> f64 {
    format!("{number:.15}").parse().unwrap_or(number)
}

/// Each pixel is the one of the old image that its center falls in, or else 0.
///
/// Pillow adds up steps of 1/65,536 of a pixel where rows or columns are slanted, and doubles elsewhere.
fn transform(canvas: &mut Canvas, affine: &Affine) {
    let (rows, columns) = (canvas.rows, canvas.columns);
    let places = if affine.x[1] == 0.0 && affine.y[0] == 0.0 {
        straight(affine, rows, columns)
    } else {
        slanted(affine, rows, columns)
    };
    for (before, after) in canvas.renewed() {
        for (pixel, place) in after.iter_mut().zip(&places) {
            *pixel = place.map_or(0, |place| before[place as usize]);
        }
    }
}

/// The place of each new pixel in the old image.
type Places = Vec<Option<u32>>;

fn straight(affine: &Affine, rows: usize, columns: usize) -> Places {
    let along = |scale: f64, start: f64, length: usize| {
        let mut at = start + scale * 0.5;
        let mut next = || {
            let place = (at >= 0.0 && at < length as f64).then_some(at as usize);
            at += scale;
            place
        };
        (0..length).map(|_| next()).collect::<Vec<_>>()
    };
    let (x, y) = (along(affine.x[0], affine.x[2], columns), along(affine.y[1], affine.y[2], rows));
    y.iter().flat_map(|y| x.iter().map(move |x| Some((y.as_ref()? * columns + x.as_ref()?) as u32))).collect()
}

fn slanted(affine: &Affine, rows: usize, columns: usize) -> Places {
    let fixed = |number: f64| (number * 65_536.0 + 0.5).floor() as i64;
    let start = |[a, b, c]: [f64; 3]| fixed(c + a * 0.5 + b * 0.5);
    let (mut row_x, mut row_y) = (start(affine.x), start(affine.y));
    let [across_x, down_x, _] = affine.x.map(fixed);
    let [across_y, down_y, _] = affine.y.map(fixed);
    let mut places = Vec::with_capacity(rows * columns);
    for _ in 0..rows {
        let (mut x, mut y) = (row_x, row_y);
        for _ in 0..columns {
            let (column, row) = (x >> 16, y >> 16);
            let inside = (0..columns as i64).contains(&column) && (0..rows as i64).contains(&row);
            places.push(inside.then_some((row * columns as i64 + column) as u32));
            x += across_x;
            y += across_y;
        }
        row_x += down_x;
        row_y += down_y;
    }
    places
}
