//! The parts that all readers of CSV, JSON lines and other files of records share: decompression within limits, byte
//! order marks, the ends of records, and their positions in errors.

mod byte_order_mark;
mod compression;
mod position;
mod scanner;
mod syntax;

pub(crate) use self::byte_order_mark::{BYTE_ORDER_MARK, wide_encoding};
pub(crate) use self::compression::{
    BUFFER, Compression, Counted, FREE_GROWTH, Grown, MAGIC_BYTES, MOST_WINDOW, unreadable,
};
pub(crate) use self::position::{Position, without_position};
pub(crate) use self::scanner::{Records, lines};
pub(crate) use self::syntax::Syntax;
