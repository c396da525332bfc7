//! Parquet (Apache Parquet format 2.10): one row group, one plain and
//! uncompressed page for each column. This is all that tables of a few
//! thousand rows need; the libraries that write Parquet bring nine further
//! crates and take longer to compile than the lab itself.

/// A column with its name.
pub struct Column<'a> {
    pub name: String,
    pub values: Values<'a>,
}

/// What a column holds; every value may be missing.
pub enum Values<'a> {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<&'a str>),
}

const MAGIC: &[u8] = b"PAR1";
/// `Type`: DOUBLE and BYTE_ARRAY.
const DOUBLE: i64 = 5;
const BYTE_ARRAY: i64 = 6;
/// `FieldRepetitionType.OPTIONAL`, `ConvertedType.UTF8`.
const OPTIONAL: i64 = 1;
const UTF8: i64 = 0;
/// `Encoding`: PLAIN and RLE.
const PLAIN: i64 = 0;
const RLE: i64 = 3;

/// The file. Columns have equally many values.
pub fn file(columns: &[Column<'_>]) -> Vec<u8> {
    let rows = columns.first().map_or(0, |column| column.values.len());
    let mut out = MAGIC.to_vec();
    let mut chunks = Vec::new();
    for column in columns {
        let offset = out.len();
        let page = column.values.page();
        out.extend(page_header(page.len(), rows));
        out.extend(page);
        chunks.push((offset, out.len() - offset));
    }
    let metadata = metadata(columns, &chunks, rows);
    out.extend(&metadata);
    out.extend((metadata.len() as u32).to_le_bytes());
    out.extend(MAGIC);
    out
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Texts(values) => values.len(),
        }
    }

    fn kind(&self) -> i64 {
        match self {
            Values::Numbers(_) => DOUBLE,
            Values::Texts(_) => BYTE_ARRAY,
        }
    }

    /// Levels, which say where a value is, and the values.
    fn page(&self) -> Vec<u8> {
        let mut page = match self {
            Values::Numbers(values) => levels(values.iter().map(Option::is_some)),
            Values::Texts(values) => levels(values.iter().map(|_| true)),
        };
        match self {
            Values::Numbers(values) => {
                page.extend(
                    values
                        .iter()
                        .flatten()
                        .flat_map(|value| value.to_le_bytes()),
                );
            }
            Values::Texts(values) => {
                for text in values {
                    page.extend((text.len() as u32).to_le_bytes());
                    page.extend(text.as_bytes());
                }
            }
        }
        page
    }
}

/// Definition levels of one bit as runs, with their length in front.
fn levels(present: impl Iterator<Item = bool>) -> Vec<u8> {
    let mut runs: Vec<(bool, u64)> = Vec::new();
    for value in present {
        match runs.last_mut() {
            Some((last, length)) if *last == value => *length += 1,
            _ => runs.push((value, 1)),
        }
    }
    let mut body = Vec::new();
    for (value, length) in runs {
        varint(&mut body, length << 1);
        body.push(u8::from(value));
    }
    let mut out = (body.len() as u32).to_le_bytes().to_vec();
    out.extend(body);
    out
}

fn page_header(size: usize, rows: usize) -> Vec<u8> {
    let mut data = Struct::default();
    data.int(1, rows as i64)
        .int(2, PLAIN)
        .int(3, RLE)
        .int(4, RLE);
    let mut header = Struct::default();
    // `PageType.DATA_PAGE` is 0.
    header
        .int(1, 0)
        .int(2, size as i64)
        .int(3, size as i64)
        .object(5, data);
    header.end()
}

fn metadata(columns: &[Column<'_>], chunks: &[(usize, usize)], rows: usize) -> Vec<u8> {
    let mut root = Struct::default();
    root.text(4, "table").int(5, columns.len() as i64);
    let mut schema = vec![root];
    let mut group = Vec::new();
    for (column, (offset, size)) in columns.iter().zip(chunks) {
        let mut element = Struct::default();
        element
            .int(1, column.values.kind())
            .int(3, OPTIONAL)
            .text(4, &column.name);
        if column.values.kind() == BYTE_ARRAY {
            element.int(6, UTF8);
        }
        schema.push(element);
        let mut about = Struct::default();
        about
            .int(1, column.values.kind())
            .ints(2, &[PLAIN, RLE])
            .texts(3, &[&column.name])
            // `CompressionCodec.UNCOMPRESSED` is 0.
            .int(4, 0)
            .long(5, rows as i64)
            .long(6, *size as i64)
            .long(7, *size as i64)
            .long(9, *offset as i64);
        let mut chunk = Struct::default();
        chunk.long(2, *offset as i64).object(3, about);
        group.push(chunk);
    }
    let size: usize = chunks.iter().map(|(_, size)| size).sum();
    let mut rows_of = Struct::default();
    rows_of
        .objects(1, group)
        .long(2, size as i64)
        .long(3, rows as i64);
    let mut file = Struct::default();
    file.int(1, 2)
        .objects(2, schema)
        .long(3, rows as i64)
        .objects(4, vec![rows_of]);
    file.text(6, &format!("weft {}", crate::VERSION));
    file.end()
}

/// A structure in Thrift's compact protocol.
#[derive(Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

/// Types of the compact protocol.
const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const OBJECT: u8 = 12;

impl Struct {
    /// Fields come in ascending order, less than 16 apart.
    fn field(&mut self, id: u8, kind: u8) -> &mut Vec<u8> {
        self.bytes.push((id - self.last) << 4 | kind);
        self.last = id;
        &mut self.bytes
    }

    fn int(&mut self, id: u8, value: i64) -> &mut Struct {
        zigzag(self.field(id, I32), value);
        self
    }

    fn long(&mut self, id: u8, value: i64) -> &mut Struct {
        zigzag(self.field(id, I64), value);
        self
    }

    fn text(&mut self, id: u8, value: &str) -> &mut Struct {
        binary(self.field(id, BINARY), value);
        self
    }

    fn object(&mut self, id: u8, value: Struct) -> &mut Struct {
        self.field(id, OBJECT).extend(value.end());
        self
    }

    fn ints(&mut self, id: u8, values: &[i64]) -> &mut Struct {
        let out = self.field(id, LIST);
        list(out, I32, values.len());
        values.iter().for_each(|value| zigzag(out, *value));
        self
    }

    fn texts(&mut self, id: u8, values: &[&str]) -> &mut Struct {
        let out = self.field(id, LIST);
        list(out, BINARY, values.len());
        values.iter().for_each(|value| binary(out, value));
        self
    }

    fn objects(&mut self, id: u8, values: Vec<Struct>) -> &mut Struct {
        let out = self.field(id, LIST);
        list(out, OBJECT, values.len());
        values.into_iter().for_each(|value| out.extend(value.end()));
        self
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn list(out: &mut Vec<u8>, kind: u8, length: usize) {
    if length < 15 {
        out.push((length as u8) << 4 | kind);
    } else {
        out.push(0xf0 | kind);
        varint(out, length as u64);
    }
}

fn binary(out: &mut Vec<u8>, text: &str) {
    varint(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn zigzag(out: &mut Vec<u8>, value: i64) {
    varint(out, (value << 1 ^ value >> 63) as u64);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests;
