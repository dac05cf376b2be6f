//! An image that operations change.

/// The pixels of an image, plane by plane, and room for their former values.
pub(super) struct Canvas {
    pub rows: usize,
    pub columns: usize,
    pixels: Vec<u8>,
    before: Vec<u8>,
}

impl Canvas {
    /// An image of shape \[channels, rows, columns\], all pixels 0.
    pub fn new([channels, rows, columns]: [usize; 3]) -> Self {
        let pixels = vec![0; channels * rows * columns];
        Self { rows, columns, before: pixels.clone(), pixels }
    }

    /// All pixels: channel, row, column.
    pub fn pixels(&mut self) -> &mut [u8] {
        &mut self.pixels
    }

    /// The planes, one for each channel.
    pub fn planes(&mut self) -> impl Iterator<Item = &mut [u8]> {
        self.pixels.chunks_exact_mut((self.rows * self.columns).max(1))
    }

    /// The planes as they are now, for each one to be overwritten.
    pub fn renewed(&mut self) -> impl Iterator<Item = (&[u8], &mut [u8])> {
        self.before.copy_from_slice(&self.pixels);
        let plane = (self.rows * self.columns).max(1);
        self.before.chunks_exact(plane).zip(self.pixels.chunks_exact_mut(plane))
    }

    /// Gray of each pixel: of three channels (19595 R + 38470 G + 7471 B + 2¹⁵)/2¹⁶ rounded down, which is ITU-R BT.601
    /// as Pillow has it; of any other number the first channel.
    pub fn gray(&self) -> Vec<u8> {
        let plane = self.rows * self.columns;
        let gray = |pixel: usize| {
            let [red, green, blue] = [0, 1, 2].map(|channel| u32::from(self.pixels[channel * plane + pixel]));
            ((19_595 * red + 38_470 * green + 7_471 * blue + (1 << 15)) >> 16) as u8
        };
        if self.is_color() { (0..plane).map(gray).collect() } else { self.pixels[..plane].to_vec() }
    }

    /// Whether it has three channels.
    pub fn is_color(&self) -> bool {
        self.pixels.len() == 3 * self.rows * self.columns
    }
}
