internal import ArgumentParser
internal import Attache

/// A port or a range of ports: `8443` or `8000-8100`.
package struct PortsArgument: ExpressibleByArgument {
  package var ports: ClosedRange<UInt16>

  package init?(argument: String) {
    guard let ports = URLPolicy.ports(argument) else { return nil }
    self.ports = ports
  }
}
