import AttacheQueue
import Synchronization

/// The address of a queue on a server, `server://NAME`, which tests open as they like.
struct ServerAddress: QueueAddress {
  static let schemes = ["server", "servers"]
  static let form = "server://NAME"

  let name: String

  init(parsing text: String) throws(QueueAddressError) {
    name = String(text.drop { $0 != ":" }.dropFirst(3))
    if name.contains("@") { throw QueueAddressError("a password does not belong in the address") }
  }

  var description: String { "server://\(name)" }

  func open(_ opening: QueueOpening) throws(QueueError) -> any PayloadQueue {
    throw .unavailable("\(name): no answer for \(opening.timeout.components.seconds) s")
  }

  func remove() throws(QueueError) {
    throw .unavailable("\(name): no server")
  }
}
