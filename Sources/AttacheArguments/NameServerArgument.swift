internal import ArgumentParser
internal import Attache

/// A name server with its port: `127.0.0.1:5353` or `[::1]:5353`.
package struct NameServerArgument: ExpressibleByArgument {
  package var text: String

  package init?(argument: String) {
    guard WrittenNameServer.isValid(argument) else { return nil }
    text = argument
  }

  package static var allValueStrings: [String] { [] }
}
