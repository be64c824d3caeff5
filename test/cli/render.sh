# tribo render: pictures and videos, from a replay and from a scene.
: "${claims:?this is a part of test/cli/run}"
t run drop.json --trajectory drop.trp --quiet; ended 0; claim "a replay to draw"
t render drop.trp --out a.png --size 160x90 --quiet; ended 0 && [ ! -s err ] && [ "$(head -c 4 a.png | tail -c 3)" = PNG ]; claim "render: a picture"
t render drop.trp --out b.png --size 160x90 --threads 1 --quiet; ended 0 && cmp -s a.png b.png; claim "render: the same bytes with one thread"
t render drop.json --out c.png --size 160x90 --quiet; ended 0 && cmp -s a.png c.png; claim "render: a scene is simulated first, and looks as its replay does"
t render drop.trp --out d.png --size 160x90 --time 0; ended 0 && ! cmp -s a.png d.png; claim "render --time"
t render drop.trp --out e.png --size 160x90 --dark --no-contacts --no-overlay --camera "3 -4 2; 0 0 0.5" --samples 1; ended 0; claim "render: every option"
t render drop.trp --out series.png --size 32x32 --frames 3:5; ended 0 && [ "$(ls series*.png | tr '\n' ' ')" = "series-0003.png series-0004.png series-0005.png " ]; claim "render --frames numbers its pictures"
for bad in "--out a.gif" "--size 10x10" "--size 100" "--frames 5" "--frames 5:3" "--frames 0:9999" "--frames 1:2 --time 0" "--camera here" "--dark --light" "--fps 0 --out a.mp4" \
  "--samples 9" "--size 161x90 --out a.mp4" "--speed 0" "--time -1" "--treads 2"; do
  t render drop.trp $bad; ended 2 && one_line; claim "render $bad is 2"
done
t render; ended 2 && one_line; claim "render needs something to draw"
t render none.trp; ended 2 && one_line; claim "render: a file that is missing is 2"
head -c 3000 drop.trp >cut.trp; t render cut.trp; ended 2 && one_line && says cut.trp; claim "render: a damaged replay is 2"
t render drop.trp --out nowhere/a.png --size 32x32; ended 3 && one_line; claim "render: a folder that is missing is 3"
(PATH=/nowhere "$tribo" render drop.trp --out a.mp4 >out 2>err </dev/null); [ $? -eq 2 ] && one_line && says ffmpeg && [ ! -e a.mp4 ]; claim "render: without ffmpeg a video is refused at once"
mkdir -p fake
fake_ffmpeg() { printf '#!/bin/sh\n[ "$1" = -version ] && exit 0\n%s\n' "$1" >fake/ffmpeg; chmod +x fake/ffmpeg; PATH=$PWD/fake:$PATH t render drop.trp --out broken.mp4 --size 64x48; }
fake_ffmpeg 'head -c 5000 >/dev/null; kill -9 $$'; ended 3 && one_line && says "killed (signal 9)" && [ ! -e broken.mp4 ]; claim "render: ffmpeg is killed"
fake_ffmpeg 'echo no such codec >&2; exit 7'; ended 3 && one_line && says "no such codec" && [ ! -e broken.mp4 ]; claim "render: ffmpeg complains and ends"
fake_ffmpeg 'cat >/dev/null'; ended 3 && one_line && says "wrote nothing" && [ ! -e broken.mp4 ]; claim "render: ffmpeg is content, and wrote nothing"
t run drop.json --out pictured --export png --quiet; ended 0 && [ -s pictured/scene.png ] && [ -s pictured/replay.trp ]; claim "run --export png"
if ! command -v ffmpeg >/dev/null; then skip "ffmpeg is not installed (scripts/setup --test)" "videos"
else
  for kind in mp4 webm; do
    t render drop.trp --out film.$kind --size 64x48 --fps 10 --speed 0.5 --quiet; ended 0 && [ "$(ffprobe -v error -count_frames -select_streams v -show_entries stream=nb_read_frames,width,height,r_frame_rate -of csv=p=0 film.$kind)" = "64,48,10/1,11" ]; claim "render: $kind, as long as the run at half speed"
  done
  (ulimit -f 4; "$tribo" render drop.trp --out cut.mp4 --size 640x360 --quiet >out 2>err </dev/null); [ $? -eq 3 ] && one_line && [ ! -e cut.mp4 ]; claim "render: a video that finds no room is 3, and gone"
  ffmpeg -v error -i a.png -f rawvideo -pix_fmt rgb24 a.raw >out 2>err && [ "$(stat -c %s a.raw)" -eq 43200 ]; claim "ffmpeg reads the PNG"
  t run drop.json --time 0.1 --out filmed --export mp4 --quiet; ended 0 && [ -s filmed/scene.mp4 ]; claim "run --export mp4"
fi
clean; claim "render: nothing half-written stays"
mkdir -p scratch
TMPDIR=$PWD/scratch "$tribo" render drop.json --time 1e9 --out never.png --quiet >out 2>err </dev/null & pid=$!
sleep 0.5; kill -KILL $pid; wait $pid 2>/dev/null
[ -z "$(ls -A scratch)" ] && [ ! -e never.png ]; claim "render: a killed one leaves nothing behind"
(TMPDIR=/nowhere "$tribo" render drop.json --out a.png --quiet >out 2>err </dev/null); [ $? -eq 3 ] && one_line && says /nowhere/; claim "render: no place for temporary files is 3"
