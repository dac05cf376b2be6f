//! Names of enums, from a single table.

/// Defines the names of the variants of an enum without data: `ALL`, in the order of the table, `name`, `Display`, and
/// `FromStr`, whose error lists the names.
#[macro_export]
macro_rules! named {
    ($type:ident, $quantity:literal, [$($variant:ident $name:literal),+ $(,)?]) => {
        impl $type {
            /// All variants.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$variant),+];

            /// The name on the command line, in tables and in files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.pad(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            fn from_str(text: &str) -> $crate::Result<Self> {
                Self::ALL.into_iter().find(|one| one.name() == text.trim()).ok_or_else(|| {
                    $crate::Error::syntax($quantity, text, $crate::named::one_of!($($name),+))
                })
            }
        }
    };
}

/// `a, b or c`.
#[macro_export]
macro_rules! one_of {
    ($last:literal) => { $last };
    ($first:literal, $last:literal) => { concat!($first, " or ", $last) };
    ($first:literal, $($rest:literal),+) => { concat!($first, ", ", $crate::named::one_of!($($rest),+)) };
}

pub use {named, one_of};

#[cfg(test)]
mod tests {
    #[derive(Debug, Clone, Copy, PartialEq)]
    enum Color {
        Red,
        DarkBlue,
        Green,
    }

    named!(Color, "color", [Red "red", DarkBlue "dark-blue", Green "green"]);

    #[test]
    fn names_read_back() {
        for color in Color::ALL {
            assert_eq!(color.to_string().parse::<Color>().unwrap(), color);
        }
        assert_eq!([format!("{:<5}|", Color::Red).as_str(), Color::DarkBlue.name()], ["red  |", "dark-blue"]);
        let error = "blue".parse::<Color>().unwrap_err().to_string();
        assert!(error.contains("red, dark-blue or green") && error.contains("color"), "{error}");
    }
}
