//! Images, videos, sounds and documents, as all formats know them: data or an address, and a media type.

use serde_json::Value;

use super::source::Place;
use crate::error::Error;
use crate::json::Object;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    Image,
    Video,
    Audio,
    Pdf,
}

pub const PDF: &str = "application/pdf";

/// The endings of addresses that tell the media type.
const ENDINGS: [(&str, &str); 15] = [
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
    ("heic", "image/heic"),
    ("mp4", "video/mp4"),
    ("mov", "video/quicktime"),
    ("webm", "video/webm"),
    ("mpeg", "video/mpeg"),
    ("mp3", "audio/mpeg"),
    ("wav", "audio/wav"),
    ("ogg", "audio/ogg"),
    ("flac", "audio/flac"),
    ("pdf", PDF),
];

impl MediaKind {
    /// That of the parts of this type.
    pub fn of_part(kind: &str) -> Option<Self> {
        [Self::Image, Self::Video, Self::Audio, Self::Pdf].into_iter().find(|media| media.name() == kind)
    }

    /// That of data of this media type.
    pub fn of_type(media_type: &str) -> Option<Self> {
        let media_type = media_type.to_ascii_lowercase();
        match media_type.split('/').next() {
            Some("image") => Some(Self::Image),
            Some("video") => Some(Self::Video),
            Some("audio") => Some(Self::Audio),
            _ => (media_type == PDF).then_some(Self::Pdf),
        }
    }

    /// The type of such a part.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Pdf => "pdf",
        }
    }

    /// The media type of what is at an address: by its ending, else the most usual one.
    fn type_at(self, url: &str) -> &'static str {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let ending = path.rsplit('.').next().unwrap_or_default().to_ascii_lowercase();
        let known =
            ENDINGS.into_iter().find(|(name, media_type)| *name == ending && Self::of_type(media_type) == Some(self));
        match (known, self) {
            (Some((_, media_type)), _) => media_type,
            (None, Self::Image) => "image/jpeg",
            (None, Self::Video) => "video/mp4",
            (None, Self::Audio) => "audio/mpeg",
            (None, Self::Pdf) => PDF,
        }
    }
}

/// A medium of a message.
pub struct Media<'c> {
    pub kind: MediaKind,
    pub origin: Origin<'c>,
    /// Of an address it may be a guess.
    pub media_type: &'c str,
    pub fields: &'c Object,
    pub at: Place,
}

/// Where the data is.
#[derive(Clone, Copy)]
pub enum Origin<'c> {
    /// Here, in base64.
    Data(&'c str),
    Url(&'c str),
}

impl<'c> Media<'c> {
    /// The medium of a stored part.
    ///
    /// # Errors
    ///
    /// The field of the source that is not what it has to be.
    pub fn read(kind: MediaKind, fields: &'c Object, at: Place) -> Result<Self, Error> {
        let source = fields.get("source").and_then(Value::as_object);
        let string = |key: &str| {
            let found = source.and_then(|source| source.get(key)).and_then(Value::as_str);
            found.ok_or_else(|| at.fault(&format!("source.{key}"), "expected a string"))
        };
        let (origin, media_type) = match string("type")? {
            "base64" => (Origin::Data(string("data")?), string("media_type")?),
            "url" => match read_data_url(string("url")?) {
                Some((media_type, data)) => (Origin::Data(data), media_type),
                None => {
                    let url = string("url")?;
                    (Origin::Url(url), string("media_type").unwrap_or_else(|_| kind.type_at(url)))
                }
            },
            _ => return Err(at.fault("source.type", "expected \"base64\" or \"url\"")),
        };
        if MediaKind::of_type(media_type) != Some(kind) {
            let message = format!("{media_type:?} is no media type of a part of the type {:?}", kind.name());
            return Err(at.fault("source.media_type", message));
        }
        Ok(Self { kind, origin, media_type, fields, at })
    }

    /// The address, or one that holds the data.
    pub fn url(&self) -> String {
        match self.origin {
            Origin::Data(data) => format!("data:{};base64,{data}", self.media_type),
            Origin::Url(url) => url.to_owned(),
        }
    }
}

/// The media type and the data of a `data:` URL in base64.
fn read_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let (media_type, _) = head.strip_suffix(";base64")?.split_once(';').unwrap_or((head.strip_suffix(";base64")?, ""));
    Some((media_type, data))
}

/// The source of a part for an address, which may hold the data itself; `None` for a `data:` URL of another form.
pub fn source_of_url(url: &str) -> Option<Value> {
    match read_data_url(url) {
        Some((media_type, data)) => Some(source_of_data(data, media_type)),
        None if url.starts_with("data:") => None,
        None => Some(dict! {"type": "url", "url": url}),
    }
}

/// The source of a part for data in base64.
pub fn source_of_data(data: &str, media_type: &str) -> Value {
    dict! {"type": "base64", "data": data, "media_type": media_type}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_urls() {
        assert_eq!(read_data_url("data:image/png;base64,AAAA"), Some(("image/png", "AAAA")));
        assert_eq!(read_data_url("data:image/png;name=x;base64,AAAA"), Some(("image/png", "AAAA")));
        assert_eq!(read_data_url("data:text/plain,hello"), None);
        assert_eq!(read_data_url("https://example.com/a,b"), None);
        assert_eq!(source_of_url("data:text/plain,hello"), None);
    }

    #[test]
    fn media_types_of_addresses() {
        assert_eq!(MediaKind::Image.type_at("https://example.com/a.PNG?x=1.pdf"), "image/png");
        assert_eq!(MediaKind::Video.type_at("https://example.com/a.png"), "video/mp4");
        assert_eq!(MediaKind::Pdf.type_at("https://example.com/"), PDF);
        assert_eq!(MediaKind::of_type("Application/PDF"), Some(MediaKind::Pdf));
        assert_eq!(MediaKind::of_type("text/plain"), None);
    }
}
