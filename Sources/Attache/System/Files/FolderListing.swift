internal import Glibc

/// Lists the entries of a folder.
package enum FolderListing {
  /// Returns the names of the entries, unordered and without `.` and `..`, as the bytes that the
  /// file system stores.
  ///
  /// - Parameter descriptor: a descriptor of the folder, opened only for this call because the read
  ///   position belongs to it. The call closes it.
  /// - Throws: ``SystemError`` of `fdopendir`.
  package static func names(closing descriptor: Int32) throws(SystemError) -> [[UInt8]] {
    guard let stream = unsafe fdopendir(descriptor) else {
      let error = SystemError(call: "fdopendir", number: errno)
      close(descriptor)
      throw error
    }
    defer { unsafe closedir(stream) }
    var names: [[UInt8]] = []
    // Read the name in place: an entry in memory can be shorter than its C declaration.
    let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) ?? 0
    while let entry = unsafe readdir(stream) {
      let name = unsafe UnsafeRawPointer(entry).advanced(by: offset)
      let length = unsafe strlen(name.assumingMemoryBound(to: CChar.self))
      let bytes = unsafe Array(UnsafeRawBufferPointer(start: name, count: length))
      if !bytes.elementsEqual(".".utf8), !bytes.elementsEqual("..".utf8) { names.append(bytes) }
    }
    return names
  }
}
