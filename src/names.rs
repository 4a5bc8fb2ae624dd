//! Enums whose variants have stable names. `tests/lists.rs` makes the TypeScript types and checks the tables of the
//! documentation from them, so each list is written once.

/// Defines an enum whose variants have stable names.
///
/// It gets `ALL`, `name`, and `summary`: the first paragraph of the documentation of a variant.
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
            /// All of them, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// The first paragraph of its documentation.
            pub fn summary(self) -> String {
                let lines: &[&str] = match self {
                    $(Self::$variant => &[$($doc),*],)*
                };
                $crate::names::first_paragraph(lines)
            }
        }
    };
}
pub(crate) use named_enum;

/// The first paragraph of a doc comment.
pub(crate) fn first_paragraph(lines: &[&str]) -> String {
    let lines = lines.iter().map(|line| line.trim()).take_while(|line| !line.is_empty());
    lines.collect::<Vec<&str>>().join(" ")
}
