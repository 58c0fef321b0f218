internal import CSimdJSON

/// Looks up a fixed list of member names in one pass over an object. Names are compared unescaped.
///
/// It owns its buffers, so that a look-up allocates nothing.
@safe
final class MemberLookup {
  private let names: UnsafeMutableBufferPointer<UInt8>
  private let keys: UnsafeMutableBufferPointer<simdjson_string_view>
  private let values: UnsafeMutableBufferPointer<simdjson_element>

  init(_ names: [String]) {
    unsafe self.names = .allocate(capacity: names.reduce(0) { $0 + $1.utf8.count })
    unsafe keys = .allocate(capacity: names.count)
    unsafe values = .allocate(capacity: names.count)
    unsafe values.initialize(repeating: simdjson_element())
    var start = 0
    for (index, name) in names.enumerated() {
      let end = start + name.utf8.count
      _ = unsafe self.names[start..<end].initialize(from: name.utf8)
      let bytes = unsafe UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: self.names[start..<end]))
      let key = unsafe simdjson_string_view(data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), length: bytes.count)
      unsafe keys.initializeElement(at: index, to: key)
      start = end
    }
  }

  deinit {
    unsafe names.deallocate()
    unsafe keys.deallocate()
    unsafe values.deallocate()
  }

  /// Looks up the names in an object. Finds none in a value of any other type.
  func find(in object: JSONElement?) {
    guard let object, let base = unsafe values.baseAddress else { return unsafe values.update(repeating: simdjson_element()) }
    unsafe object.find(UnsafeBufferPointer(keys), into: base)
  }

  /// The value that the last look-up found for the name at `index` of the list: the last member of
  /// that name.
  subscript(index: Int) -> JSONElement? {
    unsafe JSONElement(values[index])
  }
}
