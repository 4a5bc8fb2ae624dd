//! Images, videos, audio and documents, independent of a format: data or a URL, and a media type.

use serde_json::Value;

use super::dict::dict;
use peteos_json::Object;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MediaKind {
    Image,
    Video,
    Audio,
    Pdf,
}

pub const PDF: &str = "application/pdf";

/// The media types of the endings of URLs.
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
    /// The kind of parts of this type.
    pub fn of_part(kind: &str) -> Option<Self> {
        [Self::Image, Self::Video, Self::Audio, Self::Pdf].into_iter().find(|media| media.name() == kind)
    }

    /// The kind of data of this media type.
    pub fn of_type(media_type: &str) -> Option<Self> {
        let media_type = media_type.to_ascii_lowercase();
        match media_type.split('/').next() {
            Some("image") => Some(Self::Image),
            Some("video") => Some(Self::Video),
            Some("audio") => Some(Self::Audio),
            _ => (media_type == PDF).then_some(Self::Pdf),
        }
    }

    /// The type of parts of this kind.
    pub fn name(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::Video => "video",
            Self::Audio => "audio",
            Self::Pdf => "pdf",
        }
    }

    /// The expectation for an error about the media type of a part of this kind.
    fn expected_type(self) -> &'static str {
        match self {
            Self::Image => "the media type of an image",
            Self::Video => "the media type of a video",
            Self::Audio => "the media type of audio",
            Self::Pdf => "the media type application/pdf",
        }
    }

    /// A guess at the media type of a URL: by its ending, otherwise the most common one.
    fn type_at(self, url: &str) -> &'static str {
        let known = type_of_ending(url).filter(|media_type| Self::of_type(media_type) == Some(self));
        match (known, self) {
            (Some(media_type), _) => media_type,
            (None, Self::Image) => "image/jpeg",
            (None, Self::Video) => "video/mp4",
            (None, Self::Audio) => "audio/mpeg",
            (None, Self::Pdf) => PDF,
        }
    }
}

/// The audio formats that OpenAI accepts, each with its media types.
const SOUNDS: [(&str, &[&str]); 2] =
    [("wav", &["audio/wav", "audio/x-wav", "audio/wave"]), ("mp3", &["audio/mpeg", "audio/mp3"])];

/// Media in a message.
#[derive(Clone, Copy, Debug)]
pub struct Media<'c> {
    pub kind: MediaKind,
    pub origin: Origin<'c>,
    /// For a URL it may be a guess.
    pub media_type: &'c str,
    pub fields: &'c Object,
}

/// Where the data is.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'c> {
    /// In the part, as base64.
    Data(&'c str),
    Url(&'c str),
}

impl<'c> Media<'c> {
    /// The media of a stored part.
    ///
    /// # Errors
    ///
    /// The invalid field, and what is expected there.
    pub fn read(kind: MediaKind, fields: &'c Object) -> Result<Self, (&'static str, &'static str)> {
        let source = fields.get("source").and_then(Value::as_object);
        let string = |key: &str| source.and_then(|source| source.get(key)).and_then(Value::as_str);
        let (origin, media_type) = match string("type") {
            Some("base64") => match (string("data"), string("media_type")) {
                (None, _) => return Err(("source.data", "a string")),
                (_, None) => return Err(("source.media_type", "a string")),
                (Some(data), Some(media_type)) => (Origin::Data(data), media_type),
            },
            Some("url") => {
                let url = string("url").ok_or(("source.url", "a string"))?;
                match read_data_url(url) {
                    Some((media_type, data)) => (Origin::Data(data), media_type),
                    None => (Origin::Url(url), string("media_type").unwrap_or_else(|| kind.type_at(url))),
                }
            }
            _ => return Err(("source.type", "\"base64\" or \"url\"")),
        };
        if MediaKind::of_type(media_type) != Some(kind) {
            return Err(("source.media_type", kind.expected_type()));
        }
        Ok(Self { kind, origin, media_type, fields })
    }

    /// OpenAI's name of this audio format; `None` if it is not supported.
    pub fn sound(&self) -> Option<&'static str> {
        let names = |types: &[&str]| types.iter().any(|known| self.media_type.eq_ignore_ascii_case(known));
        SOUNDS.into_iter().find(|(_, types)| names(types)).map(|(name, _)| name)
    }

    /// The URL, or a data: URL with the data.
    pub fn url(&self) -> String {
        match self.origin {
            Origin::Data(data) => format!("data:{};base64,{data}", self.media_type),
            Origin::Url(url) => url.to_owned(),
        }
    }
}

/// The media type of an audio format by OpenAI's name for it.
pub fn type_of_sound(name: &str) -> Option<&'static str> {
    SOUNDS.into_iter().find(|(known, _)| *known == name).and_then(|(_, types)| types.first().copied())
}

/// The media type and the data of a base64 `data:` URL.
fn read_data_url(url: &str) -> Option<(&str, &str)> {
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    let (media_type, _) = head.strip_suffix(";base64")?.split_once(';').unwrap_or((head.strip_suffix(";base64")?, ""));
    Some((media_type, data))
}

/// The ending of the last step of the path of a URL, in lower case.
fn ending(url: &str) -> Option<String> {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, path)| path);
    let (_, name) = path.rsplit_once('/')?;
    let (_, ending) = name.rsplit_once('.')?;
    Some(ending.to_ascii_lowercase())
}

fn type_of_ending(url: &str) -> Option<&'static str> {
    let ending = ending(url)?;
    ENDINGS.into_iter().find(|(name, _)| *name == ending).map(|(_, media_type)| media_type)
}

/// The media type of what is at a URL, if that can be told: by its ending, or because it is a video of YouTube.
pub fn type_of_url(url: &str) -> Option<&'static str> {
    const VIDEOS: [&str; 3] = ["https://www.youtube.com/", "https://youtube.com/", "https://youtu.be/"];
    if VIDEOS.into_iter().any(|site| url.starts_with(site)) { Some("video/mp4") } else { type_of_ending(url) }
}

/// Whether a document at a URL is taken for a PDF: unless its ending is that of something else.
pub fn is_pdf_at(url: &str) -> bool {
    ending(url).is_none_or(|ending| ending == "pdf")
}

/// The source of a part for a URL, which may be a `data:` URL; `None` if that is not in base64.
pub fn source_of_url(url: &str) -> Option<Value> {
    match read_data_url(url) {
        Some((media_type, data)) => Some(source_of_data(data, media_type)),
        None if url.starts_with("data:") => None,
        None => Some(dict! {"type": "url", "url": url}),
    }
}

/// The source of a part for base64 data.
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
