//! Digests of texts and files.

use sha2::{Digest, Sha256};

/// The SHA-256 of these bytes (FIPS 180-4) in lower-case hexadecimal digits.
pub fn sha256_hex(bytes: &[u8]) -> String {
    let mut digest = Sha256::new();
    // In chunks: WebAssembly engines start with slow code and replace it only between calls.
    bytes.chunks(PART).for_each(|part| digest.update(part));
    hex(&digest.finalize())
}

/// Bytes in lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The size of a chunk in bytes.
const PART: usize = 1 << 14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard() {
        assert_eq!(sha256_hex(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
