import Glibc
import Testing

@testable import Attache

@Suite struct FetcherMemoryTests {
  @Test func `a place belongs to the fetch that was given it last`() throws {
    let memory = try FetcherMemory()
    memory.begin(1, at: 5, by: 0)
    var progress = FetchProgress()
    progress.bytes = 7
    memory.note(progress.raw(of: 1), at: 5, by: 0)
    #expect(memory.progress(of: 1, at: 5).bytes == 7)
    memory.begin(2, at: 5, by: 1)
    memory.note(progress.raw(of: 1), at: 5, by: 0)
    #expect(memory.progress(of: 2, at: 5) == FetchProgress())
    #expect(memory.progress(of: 1, at: 5) == FetchProgress())
  }

  @Test func `a fetch without a place is worked on all the same`() throws {
    let memory = try FetcherMemory()
    memory.begin(1, at: FetcherMemory.places, by: 2)
    memory.note(FetchProgress().raw(of: 1), at: FetcherMemory.places, by: 2)
    #expect(memory.fetchAtWork(of: 2) == 1)
    memory.endWork(of: 2)
    #expect(memory.fetchAtWork(of: 2) == nil)
  }

  @Test func `links get each place of the memory once, and no place behind it`() {
    let blocks = PlaceBlocks()
    var (link, other) = (FetchPlaces(), FetchPlaces())
    #expect((0..<FetcherMemory.places).allSatisfy { link.take { blocks.next() } == $0 })
    #expect(link.take { blocks.next() } == FetcherMemory.places)
    #expect(other.take { blocks.next() } == FetcherMemory.places)
  }

  @Test func `places are given out anew, and run out`() {
    var places = FetchPlaces()
    #expect([places.take { 64..<66 }, places.take { 0..<0 }] == [64, 65])
    #expect(places.take { 0..<0 } == FetcherMemory.places)
    places.give(back: FetcherMemory.places)
    #expect(places.take { 0..<0 } == FetcherMemory.places)
    places.give(back: 64)
    #expect(places.take { 0..<0 } == 64)
  }

  @Test func `a process whose turn never ends is ended by SIGPROF`() async {
    await #expect(processExitsWith: .signal(SIGPROF)) {
      let memory = try FetcherMemory()
      withExtendedLifetime(memory) {
        memory.watchTurns(of: 0)
        while true {}
      }
    }
  }
}
