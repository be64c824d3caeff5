# tribo view: a server that answers this machine's browser and nobody else. Requests are made by hand, through
# bash's /dev/tcp, so that they can be as wrong as one likes.
: "${claims:?this is a part of test/cli/run}"

printf '<!doctype html><html><head><title>p</title></head><body></body></html>' >page.html
mkdir -p models/meshes && printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >models/meshes/tet.obj
printf '{"tribo": 1, "dt": 0.01, "time": 1, "bodies": [{"name": "t", "shape": {"type": "mesh", "file": "meshes/tet.obj"}}]}' >models/scene.json

# Starts it: $port and $server. Stops it: stop_view, with $code.
start_view() {
  : >address
  "$tribo" view "$@" >address 2>served </dev/null &
  server=$!
  for i in $(seq 100); do [ -s address ] && break; kill -0 $server 2>/dev/null || break; sleep 0.05; done
  port=$(sed -n 's|^http://127\.0\.0\.1:\([0-9]*\)/$|\1|p' address)
  cp address out
}
stop_view() {
  kill -INT $server
  wait $server
  code=$?
}

# Sends its argument, as printf has it, and leaves what comes back in `answer`, its first line in $first.
ask() {
  { exec 5<>"/dev/tcp/127.0.0.1/$port"; } 2>/dev/null || { first=closed; return; }
  printf "$1" >&5 2>/dev/null
  timeout 10 cat <&5 >answer 2>/dev/null
  exec 5>&-
  first=$(head -1 answer | tr -d '\r')
}
get() { ask "GET $1 HTTP/1.1\r\nHost: 127.0.0.1:$port\r\n${2:-}\r\n"; }
gets() { [ "$first" = "HTTP/1.1 $1" ]; }
body() { sed '1,/^\r$/d' answer; }

start_view --page page.html models/scene.json
[ -n "$port" ]; claim "it says where it is"
get /; gets "200 OK" && body | grep -q '<title>p</title>' && body | grep -q 'tribo-view'; claim "the page, and in it that there is something to show"
grep -qi '^content-type: text/html' answer && grep -qi '^cross-origin-opener-policy: same-origin' answer && grep -qi '^cross-origin-embedder-policy: require-corp' answer; claim "the page may have threads"
[ "$(body | wc -c)" -eq "$(sed -n 's/^Content-Length: \([0-9]*\).*/\1/p' answer)" ]; claim "its length is what it says"
get /view.json; gets "200 OK" && [ "$(body)" = '{"name":"scene.json","url":"open","files":[{"name":"meshes/tet.obj","url":"file/0"}]}' ]; claim "what to show: a scene and its meshes"
get /open; gets "200 OK" && body | cmp -s - models/scene.json; claim "the scene"
get /file/0; gets "200 OK" && body | cmp -s - models/meshes/tet.obj; claim "its mesh"
sed -i 's/0.01/0.02/' models/scene.json
get "/open?again"; gets "200 OK" && body | cmp -s - models/scene.json; claim "a file that changed is read anew"
ask "HEAD / HTTP/1.1\r\nHost: localhost:$port\r\n\r\n"; gets "200 OK" && [ -z "$(body)" ] && grep -q '^Content-Length: [1-9]' answer; claim "HEAD, and the name localhost"

for path in /../page.html /models/scene.json //etc/passwd /..%2f..%2fetc%2fpasswd /file/../open /file/1 /file/-1 /open/ /OPEN '/open\0' '/%%2e%%2e/'; do
  get "$path"; [ "$first" != "HTTP/1.1 200 OK" ] && ! grep -q 'root:\|bodies' answer; claim "no such thing: $path"
done
for target in open http://127.0.0.1:$port/open '*' '' ; do
  ask "GET $target HTTP/1.1\r\nHost: 127.0.0.1:$port\r\n\r\n"; gets "400 Bad Request"; claim "a target that is no path: \"${target%%:*}\""
done
for method in POST PUT DELETE OPTIONS get; do
  ask "$method / HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nContent-Length: 0\r\n\r\n"; gets "405 Method Not Allowed" && grep -q '^Allow: GET, HEAD' answer; claim "$method is not allowed"
done
for host in evil.example "evil.example:$port" "127.0.0.1:1" 127.0.0.1 "127.0.0.1:$port.evil.example" "x127.0.0.1:$port" "[::1]:$port"; do
  ask "GET /open HTTP/1.1\r\nHost: $host\r\n\r\n"; gets "403 Forbidden" && ! grep -q bodies answer; claim "who calls it $(sed "s/$port/PORT/" <<<"$host") is refused"
done
ask "GET / HTTP/1.1\r\n\r\n"; gets "400 Bad Request"; claim "a request without Host"
ask "GET / HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nHost: evil\r\n\r\n"; gets "400 Bad Request"; claim "a request with two"
for origin in http://evil.example null "https://127.0.0.1:$port" "http://127.0.0.1:1"; do
  get /open "Origin: $origin\r\n"; gets "403 Forbidden"; claim "a page of $(sed "s/$port/PORT/" <<<"$origin") is refused"
done
get /open "origin: http://localhost:$port\r\n"; gets "200 OK"; claim "the page itself is not"
for junk in '\\0\\0\\0\\0\r\n\r\n' 'GET\r\n\r\n' 'GET / HTTP/2\r\nHost: a\r\n\r\n' '\r\n\r\n' 'GET / HTTP/1.1\r\n folded: x\r\n\r\n' 'GET / HTTP/1.1\r\nnot a header\001\r\n\r\n'; do
  ask "$junk"; gets "400 Bad Request"; claim "nonsense: $(printf '%q' "$junk")"
done
long=$(head -c 9000 /dev/zero | tr '\0' a)
ask "GET / HTTP/1.1\r\nX: $long"; gets "431 Request Header Fields Too Large"; claim "a head that does not end"
get "/${long:0:400}"; gets "414 URI Too Long"; claim "a path that is too long"

# Forty clients who say half a word and wait: whoever has something to say is answered all the same.
for fd in $(seq 10 49); do eval "exec $fd<>/dev/tcp/127.0.0.1/$port"; printf 'GET / HT' >&$fd 2>/dev/null; done
get /view.json; gets "200 OK"; claim "clients who wait do not hold it up"
for fd in $(seq 10 49); do eval "exec $fd>&-"; done
exec 6<>"/dev/tcp/127.0.0.1/$port"; printf 'GET / HTTP/1.1\r\nHost: ' >&6
timeout 9 cat <&6 >answer; [ $? -eq 0 ] && [ ! -s answer ]; claim "half a request is given up"
exec 6>&-
if [ -r /proc/net/tcp ]; then
  hex=$(printf '%04X' "$port")
  awk -v p=":$hex" '$4 == "0A" && index($2, p) { print $2 }' /proc/net/tcp >out; [ "$(cat out)" = "0100007F:$hex" ]; claim "it listens on loopback only"
fi
rm models/meshes/tet.obj; get /file/0; gets "404 Not Found"; claim "a file that is gone"
"$tribo" view --page page.html --port "$port" >out 2>err; code=$?; ended 3 && one_line && says "in use"; claim "a port that is taken"
stop_view; ended 0 && [ ! -s served ]; claim "Ctrl-C ends it, without a word"

start_view --page page.html; get /; gets "200 OK" && ! body | grep -q tribo-view; claim "without a file: the page as it is"
get /open; gets "404 Not Found"; claim "and nothing to open"
stop_view; ended 0; claim "that one ends too"
head -c 3000000 /dev/zero >big.bin; cat page.html big.bin >big.html
start_view --page big.html; get /
[ "$(tail -c 3000000 answer | cmp - big.bin; stat -c %s answer)" -gt 3000000 ]; claim "a page of many pieces arrives whole"
exec 6<>"/dev/tcp/127.0.0.1/$port"; printf 'GET / HTTP/1.1\r\nHost: localhost:%s\r\n\r\n' "$port" >&6
get /; [ "$(stat -c %s answer)" -gt 3000000 ]; claim "one who does not read holds nobody up"
exec 6>&-
stop_view; ended 0; claim "and it still ends"

t view --page nowhere.html; ended 2 && one_line; claim "a page that is not there"
t view --page page.html nowhere.json; ended 2 && one_line; claim "a scene that is not there"
printf '{"tribo": 1,\n "bodys": []}' >wrong.json
t view --page page.html wrong.json; ended 2 && one_line && says 'wrong.json:2:2:'; claim "a wrong scene: where"
printf '\211TRP\r\n\032\n' >cut.trp; t view --page page.html cut.trp; ended 2 && one_line; claim "a damaged replay"
printf 'hello' >no.txt; t view --page page.html no.txt; ended 2 && one_line; claim "a file that is nothing"
t view --port 70000; ended 2 && one_line; claim "a port that is none"
t view a b; ended 2 && one_line; claim "one file at most"
t view --help; ended 0 && grep -q "^usage: tribo view" out; claim "view --help"
