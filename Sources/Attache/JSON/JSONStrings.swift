internal import CSimdJSON

/// Reads the strings of a document one after the other, those of all its objects and arrays. Only one
/// thread at a time may use it.
@safe
final class JSONStrings {
  /// The maximum number of steps to a string; one that is deeper is left out.
  static let maximumDepth = simdjson_maximum_depth

  /// A step on the way from the document to a string.
  @safe
  struct Step {
    private let raw: simdjson_step
    let container: JSONElement
    let child: JSONElement

    fileprivate init?(_ raw: simdjson_step) {
      guard let container = unsafe JSONElement(raw.container), let child = unsafe JSONElement(raw.child) else { return nil }
      (unsafe self.raw, self.container, self.child) = (unsafe raw, container, child)
    }

    /// The child's name; nil in an array.
    var name: UnsafeRawBufferPointer? {
      guard unsafe raw.is_member else { return nil }
      let name = unsafe simdjson_step_name(raw)
      return unsafe UnsafeRawBufferPointer(start: name.data, count: name.length)
    }

    /// The child's index among its siblings.
    var index: Int { unsafe raw.index }

    /// Whether a later sibling has the same name, so that this one counts for nobody.
    var isShadowed: Bool {
      guard let name = unsafe name, let last = unsafe container.member(name) else { return false }
      return !last.isSame(as: child)
    }
  }

  private let walk = UnsafeMutablePointer<simdjson_strings>.allocate(capacity: 1)

  init() {
    unsafe walk.initialize(to: simdjson_strings())
  }

  deinit {
    unsafe walk.deallocate()
  }

  /// Begins with the strings of a document. The walk ends before the document's parser parses again.
  ///
  /// - Parameters:
  ///   - maximumDepth: the maximum number of steps to a string, at most ``maximumDepth``.
  ///   - maximumValues: the number of values, of any kind, after which the walk ends.
  func begin(_ document: JSONElement, maximumDepth: Int, maximumValues: Int) {
    unsafe document.begin(walk, maximumDepth: max(0, maximumDepth), maximumValues: maximumValues)
  }

  /// Returns the bytes of the next string that is not empty, valid as long as the document.
  func next() -> UnsafeRawBufferPointer? {
    var text = unsafe simdjson_string_view()
    guard unsafe simdjson_strings_next(walk, &text) else { return nil }
    return unsafe UnsafeRawBufferPointer(start: text.data, count: text.length)
  }

  /// Appends the steps to the string that ``next()`` returned last.
  func appendSteps(to steps: inout [Step]) {
    unsafe withUnsafePointer(to: &walk.pointee.steps) { tuple in
      let raw = unsafe UnsafeRawPointer(tuple).assumingMemoryBound(to: simdjson_step.self)
      for index in unsafe 0..<walk.pointee.depth { if let step = unsafe Step(raw[index]) { steps.append(step) } }
    }
  }
}
