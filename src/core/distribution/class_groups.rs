//! Classes that nobody can vote for are alike, so one of them stands for all.

/// Fewer such classes are not worth grouping.
const FEWEST: usize = 16;

/// The classes with a vote in some row, followed by one class that stands for all others.
pub struct ClassGroups {
    /// The entry of a shortened row that each class has.
    places: Vec<usize>,
    /// How many classes each entry stands for: 1, or any number for the last.
    multiplicity: Vec<f64>,
}

impl ClassGroups {
    /// From rows of vote probabilities on the same classes.
    pub fn new<'a>(classes: usize, rows: impl IntoIterator<Item = &'a [f64]>) -> Self {
        let mut voted = vec![false; classes];
        for row in rows {
            voted.iter_mut().zip(row).for_each(|(voted, p)| *voted |= *p > 0.0);
        }
        let silent = voted.iter().filter(|voted| !**voted).count();
        if silent < FEWEST {
            return Self { places: (0..classes).collect(), multiplicity: vec![1.0; classes] };
        }
        let last = classes - silent;
        let mut next = 0..last;
        let places = voted.iter().map(|voted| if *voted { next.next() } else { None }.unwrap_or(last)).collect();
        let mut multiplicity = vec![1.0; last + 1];
        multiplicity[last] = silent as f64;
        Self { places, multiplicity }
    }

    /// Number of entries of a shortened row.
    pub const fn entries(&self) -> usize {
        self.multiplicity.len()
    }

    /// The entry of each class.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// How many classes each entry stands for.
    pub fn multiplicity(&self) -> &[f64] {
        &self.multiplicity
    }

    /// One value per entry; classes that share an entry must have the same value.
    pub fn shortened(&self, row: &[f64]) -> Vec<f64> {
        let mut short = vec![0.0; self.entries()];
        self.places.iter().zip(row).for_each(|(&place, value)| short[place] = *value);
        short
    }

    /// One value per class.
    pub fn expanded(&self, short: &[f64]) -> Vec<f64> {
        self.places.iter().map(|&place| short[place]).collect()
    }
}
