internal import ArgumentParser

/// A port or a range of ports: `8443` or `8000-8100`.
package struct PortsArgument: ExpressibleByArgument {
  package var ports: ClosedRange<UInt16>

  package init?(argument: String) {
    let bounds = argument.split(separator: "-", omittingEmptySubsequences: false).map { part in
      part.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? UInt16(part) : nil
    }
    guard (1...2).contains(bounds.count), let first = bounds[0], let last = bounds[bounds.count - 1], first > 0, first <= last else {
      return nil
    }
    ports = first...last
  }
}
