import Glibc

/// Whether both hold the same bytes; megabytes at a time.
func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  unsafe left.count == right.count && memcmp(left, right, left.count) == 0
}
