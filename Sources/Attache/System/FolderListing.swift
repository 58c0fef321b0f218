internal import Glibc

/// What is in a folder.
package enum FolderListing {
  /// The names of the entries, in no order, without `.` and `..`, in the bytes that the file system
  /// has.
  ///
  /// - Parameter descriptor: of the folder, opened for this call, which closes it: a position in
  ///   the listing belongs to it.
  package static func names(closing descriptor: Int32) throws(SystemError) -> [[UInt8]] {
    guard let stream = unsafe fdopendir(descriptor) else {
      let error = SystemError(call: "fdopendir", number: errno)
      close(descriptor)
      throw error
    }
    defer { unsafe closedir(stream) }
    var names: [[UInt8]] = []
    // The name is read in place: an entry is shorter than its C declaration.
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
