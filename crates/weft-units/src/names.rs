//! Enums whose variants have names on the command line and in files.

use std::fmt;

/// Error: a text is not the name of a variant of an enum that [`named!`](crate::named)
/// defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    what: &'static str,
    found: String,
    names: Vec<&'static str>,
}

impl UnknownName {
    /// Error about `found`, where `names` are permitted; `what` is the noun that follows
    /// "no", such as `scheduler`.
    #[must_use]
    pub fn new(
        what: &'static str,
        found: &str,
        names: impl IntoIterator<Item = &'static str>,
    ) -> UnknownName {
        UnknownName {
            what,
            found: found.to_owned(),
            names: names.into_iter().collect(),
        }
    }
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownName { what, found, names } = self;
        write!(f, "there is no {what} `{found}`: write ")?;
        match &names[..] {
            [others @ .., last] if !others.is_empty() => {
                write!(f, "{} or {last}", others.join(", "))
            }
            names => f.write_str(&names.join(", ")),
        }
    }
}

impl std::error::Error for UnknownName {}

/// Returns whether two names are equal. A hyphen equals an underscore.
#[must_use]
pub fn is_same_name(a: &str, b: &str) -> bool {
    let plain = |c: char| if c == '-' { '_' } else { c };
    a.chars().map(plain).eq(b.chars().map(plain))
}

/// Defines an enum whose variants have names: `ALL` lists the variants, `name` and
/// `Display` give a variant's name, and `FromStr` reads it, with [`UnknownName`] as its
/// error. The text after the enum's name is the noun of that error.
///
/// ```
/// weft_units::named! {
///     /// Where somebody is.
///     #[derive(Clone, Copy, Debug, PartialEq, Eq)]
///     pub enum Motion: "motion" {
///         /// At one place.
///         Still = "still",
///         /// On foot.
///         OnFoot = "on-foot",
///     }
/// }
/// assert_eq!("on_foot".parse(), Ok(Motion::OnFoot));
/// assert_eq!(Motion::ALL.map(Motion::name), ["still", "on-foot"]);
/// let error = "flying".parse::<Motion>().unwrap_err();
/// assert_eq!(error.to_string(), "there is no motion `flying`: write still or on-foot");
/// ```
#[macro_export]
macro_rules! named {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Type:ident: $what:literal {
            $($(#[$variant_meta:meta])* $Variant:ident = $name:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        $vis enum $Type {
            $($(#[$variant_meta])* $Variant),+
        }

        impl $Type {
            /// All variants, in the order of their definition.
            $vis const ALL: [$Type; [$($name),+].len()] = [$($Type::$Variant),+];

            /// Returns the name on the command line, in files and in reports.
            #[must_use]
            $vis const fn name(self) -> &'static str {
                match self {
                    $($Type::$Variant => $name),+
                }
            }
        }

        impl ::std::fmt::Display for $Type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl ::std::str::FromStr for $Type {
            type Err = $crate::UnknownName;

            fn from_str(text: &str) -> Result<$Type, $crate::UnknownName> {
                let found = $Type::ALL.into_iter().find(|v| $crate::is_same_name(v.name(), text));
                found.ok_or_else(|| {
                    $crate::UnknownName::new($what, text, $Type::ALL.map($Type::name))
                })
            }
        }
    };
}
