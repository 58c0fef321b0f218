internal import CPQ

/// The rows that a statement returned, in PostgreSQL's binary format.
///
/// A column is named by its position, from 0. Reading a NULL gives zero or no bytes; ask
/// ``isNull(_:_:)`` first.
@safe final class Rows {
  private let result: OpaquePointer
  let count: Int

  /// - Parameter result: is cleared with this object.
  init(_ result: OpaquePointer) {
    unsafe self.result = result
    count = Int(unsafe PQntuples(result))
  }

  deinit {
    unsafe PQclear(result)
  }

  func isNull(_ row: Int, _ column: Int32) -> Bool {
    unsafe PQgetisnull(result, Int32(row), column) != 0
  }

  /// Reads an integer of any width, or a boolean as 0 or 1.
  func integer(_ row: Int, _ column: Int32) -> Int64 {
    unsafe withBytes(row, column) { bytes in
      guard let first = unsafe bytes.first, bytes.count <= 8 else { return 0 }
      let sign: Int64 = bytes.count > 1 && first & 0x80 != 0 ? -1 : 0
      return unsafe bytes.reduce(sign) { $0 << 8 | Int64($1) }
    }
  }

  func integerIfAny(_ row: Int, _ column: Int32) -> Int64? {
    isNull(row, column) ? nil : integer(row, column)
  }

  func flag(_ row: Int, _ column: Int32) -> Bool { integer(row, column) != 0 }

  func bytes(_ row: Int, _ column: Int32) -> [UInt8] {
    unsafe withBytes(row, column) { unsafe Array($0) }
  }

  func text(_ row: Int, _ column: Int32) -> String {
    unsafe withBytes(row, column) { unsafe String(decoding: $0, as: UTF8.self) }
  }

  func textIfAny(_ row: Int, _ column: Int32) -> String? {
    isNull(row, column) ? nil : text(row, column)
  }

  private func withBytes<Result>(_ row: Int, _ column: Int32, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    let length = unsafe PQgetlength(result, Int32(row), column)
    let start = unsafe PQgetvalue(result, Int32(row), column)
    return unsafe body(UnsafeRawBufferPointer(start: UnsafeRawPointer(start), count: Int(length)))
  }
}
