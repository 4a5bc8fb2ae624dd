//! Enums whose variants have stable names. From them, `tests/lists.rs` generates the TypeScript types and checks the tables
//! of the documentation, so each list exists once.

/// Defines an enum whose variants have stable names.
///
/// The enum gets `ALL`, `name` and `summary`, the first paragraph of a variant's documentation.
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $Type:ident {
            $($(#[doc = $doc:literal])* $variant:ident = $name:literal,)*
        }
    ) => {
        $(#[$meta])*
        $vis enum $Type {
            $($(#[doc = $doc])* $variant,)*
        }

        impl $Type {
            /// All variants, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The first paragraph of the variant's documentation.
            pub fn summary(self) -> String {
                let lines: &[&str] = match self {
                    $(Self::$variant => &[$($doc),*],)*
                };
                $crate::names::first_paragraph(lines)
            }
        }
    };
}
/// The first paragraph of a doc comment.
pub fn first_paragraph(lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| line.trim()).take_while(|line| !line.is_empty());
    lines.collect::<Vec<&str>>().join(" ")
}
