import Glibc

/// Whether both have the same bytes. Fast enough for megabytes.
func isSame(_ left: [UInt8], _ right: [UInt8]) -> Bool {
  unsafe left.count == right.count && memcmp(left, right, left.count) == 0
}
