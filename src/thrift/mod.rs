//! The page headers and the schema of Parquet, in Thrift's compact protocol, read before the Parquet reader takes them.

use std::io::{self, Read};

/// The content of a page header.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) uncompressed: u64,
    pub(crate) compressed: u64,
    pub(crate) values: u64,
    /// The number of bytes before the compressed ones.
    pub(crate) uncompressed_levels: u64,
    /// True if nothing of the page is compressed, although its column is.
    pub(crate) is_uncompressed: bool,
    pub(crate) encoding: Option<u64>,
    pub(crate) is_dictionary: bool,
}

/// Reads the header of a page, of at most `most` bytes. Returns it with the bytes that were read.
pub(crate) fn read_header(from: impl Read, most: u64) -> io::Result<(Header, Vec<u8>)> {
    let mut compact = Compact { inner: from, read: Vec::new(), most };
    let header = compact.header()?;
    Ok((header, compact.read))
}

/// The maximum nesting depth of the columns of a file: readers of their schema recurse into it.
const LEVELS: usize = 128;

/// Checks the schema in the footer of a file before its reader takes it: a schema that is nested too deep would
/// overflow the stack. A schema that cannot be followed here is refused, as its reader might find any depth in it.
pub(crate) fn check_schema(footer: &[u8]) -> io::Result<()> {
    match depth(footer) {
        Ok(0..=LEVELS) => Ok(()),
        Ok(_) => Err(invalid(format!("its columns are nested more than {LEVELS} deep"))),
        Err(_) => Err(invalid("its footer is damaged".to_owned())),
    }
}

/// The types of the fields of an element of a schema, from field 1 on.
const ELEMENT: [u8; 10] = [I32, I32, I32, BINARY, I32, I32, I32, I32, I32, STRUCT];

/// The same for the header of a page, and for the part of it that each kind of page has.
const HEADER: [u8; 8] = [I32, I32, I32, I32, STRUCT, STRUCT, STRUCT, STRUCT];
const DATA_HEADER: [u8; 5] = [I32, I32, I32, I32, STRUCT];
const DICTIONARY_HEADER: [u8; 3] = [I32, I32, TRUE];
const DATA_HEADER_V2: [u8; 8] = [I32, I32, I32, I32, I32, I32, TRUE, STRUCT];

/// Returns the nesting depth of a schema; if it is too deep, the first depth beyond the limit.
fn depth(footer: &[u8]) -> io::Result<usize> {
    let mut compact = Compact { inner: footer, read: Vec::new(), most: footer.len() as u64 };
    // The version comes first, then the schema.
    let mut byte = compact.byte()?;
    if byte == 1 << 4 | I32 {
        compact.number()?;
        byte = compact.byte()?;
    }
    if byte != 1 << 4 | LIST {
        return Err(damaged());
    }
    let (count, STRUCT) = compact.list()? else { return Err(damaged()) };
    let mut deepest = 0;
    // For each enclosing group, the number of its children still to come.
    let mut groups: Vec<u64> = Vec::new();
    for _ in 0..count {
        let mut parts = 0;
        compact.known_fields(&ELEMENT, |compact, field, kind| {
            match field {
                5 => parts = compact.size()?,
                10 => compact.logical_type()?,
                _ => compact.skip(kind, DEPTH)?,
            }
            Ok(())
        })?;
        while groups.last() == Some(&0) {
            groups.pop();
        }
        if let Some(left) = groups.last_mut() {
            *left -= 1;
        }
        if parts > 0 {
            groups.push(parts);
        }
        deepest = deepest.max(groups.len());
        if deepest > LEVELS {
            break;
        }
    }
    Ok(deepest)
}

/// Types of Thrift's compact protocol. For a boolean the type is the value.
const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I32: u8 = 5;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// A reader of Thrift's compact protocol that keeps the bytes it has read.
struct Compact<R> {
    inner: R,
    read: Vec<u8>,
    /// Upper bound of the number of bytes read.
    most: u64,
}

/// The maximum nesting depth of values that are skipped.
const DEPTH: usize = 16;

impl<R: Read> Compact<R> {
    fn header(&mut self) -> io::Result<Header> {
        let mut header = Header::default();
        let mut kinds = 0;
        self.known_fields(&HEADER, |compact, field, kind| {
            match field {
                2 => header.uncompressed = compact.size()?,
                3 => header.compressed = compact.size()?,
                // The header of a data page, of a dictionary, and of a data page of the second version.
                5 | 7 => {
                    kinds += 1;
                    header.is_dictionary = field == 7;
                    let known: &[u8] = if header.is_dictionary { &DICTIONARY_HEADER } else { &DATA_HEADER };
                    compact.known_fields(known, |compact, field, kind| {
                        match field {
                            1 => header.values = compact.size()?,
                            2 => header.encoding = Some(compact.size()?),
                            _ => compact.skip(kind, DEPTH)?,
                        }
                        Ok(())
                    })?;
                }
                8 => {
                    kinds += 1;
                    compact.known_fields(&DATA_HEADER_V2, |compact, field, kind| {
                        match field {
                            1 => header.values = compact.size()?,
                            4 => header.encoding = Some(compact.size()?),
                            5 | 6 => header.uncompressed_levels += compact.size()?,
                            7 => header.is_uncompressed = kind == FALSE,
                            _ => compact.skip(kind, DEPTH)?,
                        }
                        Ok(())
                    })?;
                }
                _ => compact.skip(kind, DEPTH)?,
            }
            Ok(())
        })?;
        // With two of them, the page type would decide which one counts.
        if kinds > 1 { Err(damaged()) } else { Ok(header) }
    }

    /// Reads a struct as [`Self::fields`] does, if the types of its first fields are known. Fails if such a field has
    /// another type or is there twice: a reader may take it for the known type, whatever it says, and may use either of
    /// two.
    fn known_fields(
        &mut self,
        known: &[u8],
        mut field: impl FnMut(&mut Self, i16, u8) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut seen = 0_u16;
        self.fields(|compact, number, kind| {
            let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            if let Some((place, known)) = place.and_then(|place| Some((place, known.get(place)?))) {
                let is_known = *known == if kind == FALSE { TRUE } else { kind };
                if !is_known || seen & 1 << place != 0 {
                    return Err(damaged());
                }
                seen |= 1 << place;
            }
            field(compact, number, kind)
        })
    }

    /// Calls `field` with the number and the type of each field of a struct; `field` must read its value.
    fn fields(&mut self, mut field: impl FnMut(&mut Self, i16, u8) -> io::Result<()>) -> io::Result<()> {
        let mut number = 0_i16;
        loop {
            let byte = self.byte()?;
            if byte & 15 == 0 {
                return Ok(());
            }
            number = match byte >> 4 {
                0 => i16::try_from(self.signed()?).map_err(|_| damaged())?,
                more => number.checked_add(i16::from(more)).ok_or_else(damaged)?,
            };
            field(self, number, byte & 15)?;
        }
    }

    /// Checks the logical type of a schema element: a struct of one struct, whose fields the reader takes for the types
    /// that they should have.
    fn logical_type(&mut self) -> io::Result<()> {
        self.fields(|compact, of, kind| {
            if kind != STRUCT {
                return Err(damaged());
            }
            compact.fields(|compact, field, kind| {
                let known = match (of, field) {
                    // The fields of decimals, times, integers, variants and geographic types.
                    (5, 1 | 2) | (18, 2) => I32,
                    (7 | 8, 2) => STRUCT,
                    (10 | 16, 1) => BYTE,
                    (17 | 18, 1) => BINARY,
                    _ => kind,
                };
                match (of, field) {
                    _ if kind != known => Err(damaged()),
                    // The unit of times: a struct with an empty struct in it.
                    (7 | 8, 2) => compact.fields(|compact, _, kind| match kind {
                        STRUCT => compact.skip(kind, 1),
                        _ => Err(damaged()),
                    }),
                    _ => compact.skip(kind, DEPTH),
                }
            })
        })
    }

    /// Reads the number of values of a list, and their type.
    fn list(&mut self) -> io::Result<(u64, u8)> {
        let byte = self.byte()?;
        let length = if byte >> 4 == 15 { self.number()? } else { u64::from(byte >> 4) };
        Ok((length, byte & 15))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        let Some(depth) = depth.checked_sub(1) else { return Err(damaged()) };
        match kind {
            TRUE | FALSE => {}
            BYTE => drop(self.byte()?),
            4..=6 => drop(self.number()?),
            7 => self.pass(8)?,
            BINARY => {
                let length = self.number()?;
                self.pass(length)?;
            }
            LIST | 10 => {
                let (length, kind) = self.list()?;
                for _ in 0..length {
                    self.skip_value(kind, depth)?;
                }
            }
            11 => {
                let length = self.number()?;
                let kinds = if length > 0 { self.byte()? } else { 0 };
                for _ in 0..length {
                    self.skip_value(kinds >> 4, depth)?;
                    self.skip_value(kinds & 15, depth)?;
                }
            }
            STRUCT => self.fields(|compact, _, kind| compact.skip(kind, depth))?,
            13 => self.pass(16)?,
            _ => return Err(damaged()),
        }
        Ok(())
    }

    /// Skips a value of a list. Fails on a boolean, since readers differ in whether it takes a byte here.
    fn skip_value(&mut self, kind: u8, depth: usize) -> io::Result<()> {
        if matches!(kind, TRUE | FALSE) { Err(damaged()) } else { self.skip(kind, depth) }
    }

    /// Reads an integer of 32 bits that is not negative.
    fn size(&mut self) -> io::Result<u64> {
        let size = i32::try_from(self.signed()?).map_err(|_| damaged())?;
        u64::try_from(size).map_err(|_| damaged())
    }

    /// Reads an integer. The lowest bit is its sign.
    fn signed(&mut self) -> io::Result<i64> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(damaged())
    }

    fn byte(&mut self) -> io::Result<u8> {
        self.pass(1)?;
        self.read.last().copied().ok_or_else(damaged)
    }

    fn pass(&mut self, count: u64) -> io::Result<()> {
        if count > self.most.saturating_sub(self.read.len() as u64) {
            return Err(damaged());
        }
        let read = self.inner.by_ref().take(count).read_to_end(&mut self.read)?;
        if read as u64 == count { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}

pub(crate) fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn damaged() -> io::Error {
    invalid("the header of a page is damaged".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(bytes: &[u8]) -> io::Result<Header> {
        let (header, read) = read_header(bytes, 16 << 20)?;
        assert_eq!(read, bytes);
        Ok(header)
    }

    #[test]
    fn headers_are_read_and_what_does_not_matter_is_passed_over() {
        // A data page of 300 bytes, compressed to 20: type 0, sizes, checksum, 7 values, and statistics with the
        // maximum "abc".
        let page = [
            0x15, 0x00, 0x15, 0xD8, 0x04, 0x15, 0x28, 0x15, 0x11, 0x1C, 0x15, 0x0E, 0x15, 0x0E, 0x15, 0x06, 0x15, 0x06,
            0x1C, 0x18, 0x03, b'a', b'b', b'c', 0x00, 0x00, 0x00,
        ];
        let expected = Header { uncompressed: 300, compressed: 20, values: 7, encoding: Some(7), ..Header::default() };
        assert_eq!(header(&page).unwrap(), expected);
        // A page of the second version, with 5 and 2 bytes of levels; the second field has its number written out.
        let page = [
            0x15, 0x06, 0x05, 0x04, 0x14, 0x15, 0x14, 0x5C, 0x15, 0x02, 0x15, 0x00, 0x15, 0x02, 0x15, 0x10, 0x15, 0x0A,
            0x15, 0x04, 0x11, 0x00, 0x00,
        ];
        let expected = Header {
            uncompressed: 10,
            compressed: 10,
            values: 1,
            encoding: Some(8),
            uncompressed_levels: 7,
            ..Header::default()
        };
        assert_eq!(header(&page).unwrap(), expected);
        // The same, not compressed.
        let page = [&page[..20], &[0x12], &page[21..]].concat();
        assert_eq!(header(&page).unwrap(), Header { is_uncompressed: true, ..expected });
    }

    /// Returns a footer with a column inside `depth` nested groups.
    fn footer(depth: u8) -> Vec<u8> {
        let root = [0x48, 1, b'r', 0x15, 2, 0];
        let column = [0x15, 6, 0x38, 1, b'x', 0];
        let groups = [0x35, 2, 0x18, 1, b'g', 0x15, 2, 0].repeat(usize::from(depth));
        // The number of elements is a varint: one byte of seven bits, or two bytes if it is larger.
        let count = if depth > 125 { vec![depth + 2, 1] } else { vec![depth + 2] };
        [&[0x15, 4, 0x19, 0xFC], &*count, &root, &groups, &column].concat()
    }

    /// Returns a footer of one column, with these fields after the others.
    fn with_fields(fields: &[u8]) -> Vec<u8> {
        let column = footer(0);
        [&column[..column.len() - 1], fields, &[0, 0]].concat()
    }

    #[test]
    fn schemas_that_are_nested_too_deep_are_refused() {
        assert_eq!(depth(&footer(100)).unwrap(), 101);
        check_schema(&footer(100)).unwrap();
        let said = |footer: &[u8]| check_schema(footer).unwrap_err().to_string();
        assert_eq!(said(&footer(200)), "its columns are nested more than 128 deep");
        for bytes in [&b""[..], &[0x15, 4, 0], &footer(200)[..50]] {
            assert_eq!(said(bytes), "its footer is damaged", "{bytes:?}");
        }
    }

    #[test]
    fn schemas_are_followed_as_their_reader_does_or_refused() {
        // After field 4, the name: the logical types of text, of a time in UTC in milliseconds, and of an integer; a
        // map, a UUID, and a set in unknown fields; a field with a negative number; and a long value.
        let long = [&[0xB8, 0x80, 0x80, 0x80, 0x09][..], &vec![0; 9 << 21]].concat();
        let uuid = [&[0xAD][..], &[7; 16]].concat();
        let sound: [&[u8]; 8] = [
            b"",
            &[0x6C, 0x1C, 0, 0],
            &[0x6C, 0x8C, 0x11, 0x1C, 0x1C, 0, 0, 0, 0],
            &[0x6C, 0xAC, 0x13, 64, 0x11, 0, 0],
            &[0xAB, 1, 0x85, 1, b'k', 3, 0xAA, 0x25, 1, 2],
            &uuid,
            &[0x05, 5, 1],
            &long,
        ];
        for fields in sound {
            assert_eq!(depth(&with_fields(fields)).unwrap(), 1, "{:?}", &fields[..fields.len().min(20)]);
        }
        // A name that is a number; a number of children that is text; units of times that are a boolean, or not nested;
        // a logical type that is a boolean; a list and a map of booleans; a number of children beyond 32 bits.
        let damaged: [&[u8]; 8] = [
            &[0x05, 8, 0],
            &[0x08, 10, 0],
            &[0x6C, 0x8C, 0x11, 0x1C, 0x11, 0, 0, 0],
            &[0x6C, 0x8C, 0x11, 0x15, 0, 0, 0],
            &[0x6C, 0x11, 0],
            &[0xA9, 0x21, 1, 1],
            &[0xAB, 1, 0x11, 1, 1],
            &[0x15, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0x01],
        ];
        for fields in damaged {
            assert!(depth(&with_fields(fields)).is_err(), "{fields:?}");
        }
        // A field before the schema, and a schema that is a set.
        for bytes in [&[0x28, 0, 0x05, 4, 0x19][..], &[0x15, 4, 0x1A]] {
            assert!(depth(&[bytes, &footer(0)[3..]].concat()).is_err());
        }
    }

    /// Checks headers for which the Parquet reader may find other sizes than are checked here.
    #[test]
    fn headers_that_readers_take_in_different_ways_are_refused() {
        let of_page = |fields: &[u8], kind: &[u8]| [&[0x15, 0][..], fields, kind, &[0]].concat();
        let sizes = [0x15, 0x28, 0x15, 0x28];
        let data = [0x2C, 0x15, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0];
        assert_eq!(header(&of_page(&sizes, &data)).unwrap().values, 1);
        for (fields, kind) in [
            // Sizes that are 64-bit integers, or text; the second one twice; one beyond 31 and one beyond 32 bits; one
            // below 0.
            (&[0x16, 0x28, 0x15, 0x28][..], &data[..]),
            (&[0x18, 0x28, 0x15, 0x28], &data),
            (&[0x15, 0x28, 0x15, 0x28, 0x05, 6, 0x7E], &data),
            (&[0x15, 0x80, 0x80, 0x80, 0x80, 0x10, 0x15, 0x28], &data),
            (&[0x15, 0x28, 0x15, 0xA8, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], &data),
            (&[0x15, 0x27, 0x15, 0x28], &data),
            // A data page header that is a number, one whose number of values is a 64-bit integer, and two such
            // headers.
            (&sizes, &[0x25, 2]),
            (&sizes, &[0x2C, 0x16, 2, 0x15, 0, 0x15, 6, 0x15, 6, 0]),
            (&sizes, &[&data[..], &[0x2C, 0x15, 2, 0x15, 0, 0]].concat()),
        ] {
            let bytes = of_page(fields, kind);
            assert!(header(&bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn damaged_headers_are_errors() {
        let lists = [&[0x19][..], &[0x19; 100]].concat();
        let long = [0x18, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F];
        for bytes in [&b""[..], &[0x15], &[0x25, 0x01, 0x00], &[0xFF; 20], &[0x1D], &lists, &long] {
            assert!(header(bytes).is_err(), "{bytes:?}");
        }
    }
}
