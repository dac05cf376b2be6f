//! Small images side by side, for people to look at.

use super::drawing::{Drawing, TEXT, WIDTH, headline, px};
use super::text::{fitted, wrapped};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{Markup, html};
use ndarray::{Array4, ArrayView3, Axis, Slice};

/// Images with a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PictureRow {
    /// Their description.
    pub name: String,
    /// \[image, channel, row, column\], from 0 (black) to 255: gray with one channel, red, green and blue with three; of
    /// any other number the first is shown.
    pub pictures: Array4<u8>,
}

/// A sheet of images, row by row, each enlarged without smoothing.
///
/// ```
/// # use leakbound::report::{PictureRow, Pictures};
/// # use ndarray::Array4;
/// let pictures = Array4::from_shape_fn((3, 1, 2, 2), |(image, _, row, column)| (100 * image + 10 * row + column) as u8);
/// let sheet = Pictures {
///     title: "Synthetic images".into(),
///     description: "Three images of 2 x 2 pixels.".into(),
///     rows: vec![PictureRow { name: "model 0".into(), pictures }],
/// };
/// assert_eq!(sheet.draw().svg().matches("<image").count(), 3);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pictures {
    /// Headline.
    pub title: String,
    /// What is shown, for readers who do not see the figure.
    pub description: String,
    /// The rows, from top to bottom.
    pub rows: Vec<PictureRow>,
}

/// Sizes in pixels of the figure's own coordinates.
const LEFT: f64 = 10.0;
/// The width of an image, and the room between two.
const SIDE: f64 = 48.0;
const GAP: f64 = 6.0;
/// Room for the name above a row.
const NAME: f64 = 24.0;

impl Pictures {
    /// Draws the sheet.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let title = wrapped(&self.title, WIDTH - 20.0, 16.0, 3);
        let mut top = 30.0 + 20.0 * title.len() as f64;
        let mut rows = Vec::new();
        for row in &self.rows {
            let (body, height) = drawn(row, top);
            rows.push(body);
            top += height;
        }
        let body = html! {
            (headline(&title))
            @for row in &rows { (row) }
        };
        let names: Vec<String> =
            self.rows.iter().map(|row| format!("{}: {} images", row.name, row.pictures.len_of(Axis(0)))).collect();
        let description = format!("{} {}.", self.description, names.join("; "));
        Drawing::new(&self.title, &self.description, top.round() + 4.0, description, body)
    }
}

/// A row with its name at this height, and how high it is.
fn drawn(row: &PictureRow, top: f64) -> (Markup, f64) {
    let [_, _, rows, columns] = [0, 1, 2, 3].map(|axis| row.pictures.len_of(Axis(axis)));
    let height = SIDE * rows as f64 / columns.max(1) as f64;
    let in_line = ((WIDTH - 2.0 * LEFT + GAP) / (SIDE + GAP)) as usize;
    let lines = row.pictures.len_of(Axis(0)).div_ceil(in_line);
    let body = html! {
        text x=(LEFT) y=(px(top + 14.0)) font-size=(TEXT) fill="currentColor" { (fitted(&row.name, WIDTH - 2.0 * LEFT, TEXT)) }
        @for (number, picture) in row.pictures.outer_iter().enumerate() {
            @let x = LEFT + (number % in_line) as f64 * (SIDE + GAP);
            @let y = top + NAME + (number / in_line) as f64 * (height + GAP);
            @if let Some(png) = png(picture) {
                image x=(px(x)) y=(px(y)) width=(SIDE) height=(px(height)) preserveAspectRatio="none"
                    style="image-rendering:pixelated" href=(format!("data:image/png;base64,{}", BASE64_STANDARD.encode(png))) {}
            }
        }
    };
    (body, NAME + lines as f64 * (height + GAP) + 8.0)
}

/// An image \[channel, row, column\] as a file; none without pixels.
fn png(picture: ArrayView3<'_, u8>) -> Option<Vec<u8>> {
    let (channels, rows, columns) = picture.dim();
    let (color, shown) = if channels == 3 { (png::ColorType::Rgb, 3) } else { (png::ColorType::Grayscale, 1) };
    let picture = picture.slice_axis(Axis(0), Slice::from(..shown.min(channels)));
    let pixels: Vec<u8> = picture.permuted_axes([1, 2, 0]).iter().copied().collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, u32::try_from(columns).ok()?, u32::try_from(rows).ok()?);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    // Into memory, for the stated number of pixels: it fails only if there is no memory.
    encoder.write_header().ok()?.write_image_data(&pixels).ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a decoder reads.
    fn read(file: &[u8]) -> (png::ColorType, Vec<u8>) {
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        (info.color_type, pixels)
    }

    #[test]
    fn pixels_are_those_of_the_images() {
        let gray = Array4::from_shape_fn((1, 1, 2, 3), |(_, _, row, column)| (10 * row + column) as u8);
        let file = png(gray.index_axis(Axis(0), 0)).unwrap();
        assert_eq!(read(&file), (png::ColorType::Grayscale, vec![0, 1, 2, 10, 11, 12]));
        let color = Array4::from_shape_fn((1, 3, 1, 2), |(_, channel, _, column)| (100 * column + channel) as u8);
        let file = png(color.index_axis(Axis(0), 0)).unwrap();
        assert_eq!(read(&file), (png::ColorType::Rgb, vec![0, 1, 2, 100, 101, 102]));
        assert!(png(Array4::<u8>::zeros((1, 1, 0, 0)).index_axis(Axis(0), 0)).is_none());
    }

    #[test]
    fn a_sheet_has_every_image_in_its_own_place() {
        let row = |name: &str, count| PictureRow { name: name.into(), pictures: Array4::zeros((count, 1, 4, 4)) };
        let sheet = Pictures {
            title: "Views".into(),
            description: "What the encoder sees.".into(),
            rows: vec![row("first & last", 17), row("none", 0)],
        };
        let svg = sheet.draw().svg();
        assert_eq!(svg.matches("<image").count(), 17);
        let places: std::collections::BTreeSet<&str> =
            svg.split("<image ").skip(1).filter_map(|image| image.split(" width").next()).collect();
        assert_eq!(places.len(), 17);
        assert!(svg.contains("first &amp; last: 17 images; none: 0 images."), "{svg}");
    }
}
