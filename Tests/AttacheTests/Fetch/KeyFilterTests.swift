import Testing

@testable import Attache

@Suite struct KeyFilterTests {
  @Test func `a key that was noted is always known, and few others are taken for one`() {
    var generator = SystemRandomNumberGenerator()
    let known = (0..<KeyFilter.capacity).map { _ in Int64(bitPattern: generator.next()) }
    var filter = KeyFilter(known.dropLast(10))
    for number in known.suffix(10) { filter.insert(number) }
    #expect(known.allSatisfy(filter.mayContain))
    let strangers = (0..<100_000).map { _ in Int64(bitPattern: generator.next()) }
    #expect(strangers.count(where: filter.mayContain) < 2_000, "500 are to be expected")
  }

  @Test(arguments: [0, -1, Int64.min, Int64.max, 1]) func `an empty filter knows nothing`(number: Int64) {
    var filter = KeyFilter([])
    #expect(!filter.mayContain(number))
    filter.insert(number)
    #expect(filter.mayContain(number))
  }
}
