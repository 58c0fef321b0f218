internal import Synchronization

/// A value that one thread sets for others. Safe from any thread.
final class SetOnce<Value: Sendable>: Sendable {
  private final class Box: Sendable {
    let value: Value

    init(_ value: Value) {
      self.value = value
    }
  }

  private let box = AtomicLazyReference<Box>()

  /// Sets the value, unless it is already set.
  func set(_ value: Value) {
    _ = box.storeIfNil(Box(value))
  }

  /// The value; nil if it is not set yet.
  var value: Value? { box.load()?.value }
}
