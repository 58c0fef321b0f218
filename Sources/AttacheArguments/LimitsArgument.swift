internal import ArgumentParser
package import Attache

/// The largest file of each kind: `image=10MB,audio=5MB,video=50MB`.
package struct LimitsArgument: ExpressibleByArgument, CustomStringConvertible {
  package var limits = MediaLimits()

  package init() {}

  package var description: String {
    "image=\(limits.image),audio=\(limits.audio),video=\(limits.video)"
  }

  package init?(argument: String) {
    guard let limits = MediaLimits(written: argument) else { return nil }
    self.limits = limits
  }

  package static var allValueStrings: [String] { [] }
}
