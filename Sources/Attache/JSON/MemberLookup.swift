internal import CSimdJSON

/// Looks up a fixed list of member names in one pass over an object. Names are compared unescaped.
///
/// The cost of each member of the object depends on the number of names of the same length, and
/// that of a look-up on the number of names found. A look-up does not walk the rest of the list.
/// It owns its buffers, so that a look-up allocates nothing.
@safe
final class MemberLookup {
  private let names: UnsafeMutableBufferPointer<UInt8>
  private let keys: UnsafeMutableBufferPointer<simdjson_string_view>
  private let places: UnsafeMutableBufferPointer<UInt16>
  private let starts: UnsafeMutableBufferPointer<UInt16>
  private let values: UnsafeMutableBufferPointer<simdjson_element>
  private let found: UnsafeMutableBufferPointer<UInt16>
  /// The number of names that the last look-up found.
  private(set) var count = 0

  /// - Parameter names: at most 65,535 names, without repetition.
  init(_ names: [String]) {
    unsafe self.names = .allocate(capacity: names.reduce(1) { $0 + $1.utf8.count })
    unsafe keys = .allocate(capacity: names.count + 1)
    unsafe places = .allocate(capacity: names.count + 1)
    unsafe values = .allocate(capacity: names.count + 1)
    unsafe values.initialize(repeating: simdjson_element())
    unsafe found = .allocate(capacity: names.count + 1)
    unsafe found.initialize(repeating: 0)
    var start = 0
    let lengths = names.map(\.utf8.count)
    let order = names.indices.sorted { lengths[$0] < lengths[$1] }
    for (position, place) in order.enumerated() {
      let end = start + names[place].utf8.count
      _ = unsafe self.names[start..<end].initialize(from: names[place].utf8)
      let bytes = unsafe UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: self.names[start..<end]))
      let key = unsafe simdjson_string_view(data: bytes.baseAddress?.assumingMemoryBound(to: CChar.self), length: bytes.count)
      unsafe keys.initializeElement(at: position, to: key)
      unsafe places.initializeElement(at: position, to: UInt16(place))
      start = end
    }
    unsafe starts = .allocate(capacity: 66)
    var position = 0
    for length in 0..<66 {
      while position < order.count, length == 65 || lengths[order[position]] < length { position += 1 }
      unsafe starts.initializeElement(at: length, to: UInt16(position))
    }
  }

  deinit {
    unsafe names.deallocate()
    unsafe keys.deallocate()
    unsafe places.deallocate()
    unsafe starts.deallocate()
    unsafe values.deallocate()
    unsafe found.deallocate()
  }

  /// Looks up the names in an object. Finds none in a value of any other type.
  func find(in object: JSONElement?) {
    for position in 0..<count { unsafe values[Int(found[position])] = unsafe simdjson_element() }
    count = 0
    guard let object, let keys = unsafe keys.baseAddress, let places = unsafe places.baseAddress, let starts = unsafe starts.baseAddress,
      let values = unsafe values.baseAddress, let found = unsafe found.baseAddress
    else { return }
    var index = unsafe simdjson_key_index(keys: keys, places: places, starts: starts)
    unsafe count = object.find(&index, into: values, found: found)
  }

  /// Returns the index in the list of a name that the last look-up found. `position` is below
  /// ``count``.
  func place(_ position: Int) -> Int {
    unsafe Int(found[position])
  }

  /// The value that the last look-up found for the name at that index of the list: the last member
  /// of that name.
  subscript(place: Int) -> JSONElement? {
    unsafe JSONElement(values[place])
  }
}
