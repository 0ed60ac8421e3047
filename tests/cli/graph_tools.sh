#!/bin/sh
# tools/graph-from-apt and tools/graph-from-wordnet on small inputs, to the letter.
# usage: graph_tools.sh SOURCE_DIR
set -u
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

# same NAME: the sorted graph in $work/graph is what standard input says, there with blanks for tabs,
# here without the blanks of names.
same() {
    tr ' ' '\t' | LC_ALL=C sort >"$work/expected"
    tr -d " " <"$work/graph" | LC_ALL=C sort | diff "$work/expected" - || { echo "FAILED: $1"; status=1; }
}

cat >"$work/Packages" <<'END'
Package: sail
Source: boat (1.2-3)
Maintainer: "Ann Bo" <ann@example.org>
Section: games
Priority: optional
Pre-Depends: libc6 (>= 2.34)
Depends: mast:any, hull (= 1) | raft [linux-any], mast, oar:i386
Recommends: wind | engine
Conflicts: storm, calm (<< 2)
Breaks: ice (<< 3)
Provides: boat-power (= 1), sail-api
Replaces: old-sail
Tag: role::program,
 uitoolkit::gtk
Description: moves
 a boat

Package: mast
Maintainer: Ann Bo <other@example.org>
Essential: yes
Section: contrib/libs
END
"$source/tools/graph-from-apt" -i "$work/Packages" -o "$work/graph" 2>"$work/log" || status=1
same 'packages' <<'END'
sail depends_on libc6
sail depends_on mast
sail depends_on_one_of hull
sail depends_on_one_of raft
sail recommends wind
sail recommends engine
sail conflicts_with storm
sail breaks_versions_of calm
sail breaks_versions_of ice
sail provides boat-power
sail provides sail-api
sail replaces old-sail
sail in_section section:games
sail has_priority priority:optional
sail maintained_by maintainer:AnnBo
sail built_from source:boat
sail has_tag tag:role::program
sail has_tag tag:uitoolkit::gtk
mast in_section section:contrib/libs
mast maintained_by maintainer:AnnBo
mast built_from source:mast
mast has_state state:essential
END
[ "$(cat "$work/log")" = '2 packages, 22 facts' ] || { echo 'FAILED: count of packages'; status=1; }

printf 'Version: 1\n' | "$source/tools/graph-from-apt" -i - -o "$work/none" 2>/dev/null &&
    { echo 'FAILED: no packages is an error'; status=1; }
[ ! -e "$work/none" ] && [ ! -e "$work/none.partial" ] || { echo 'FAILED: half a file'; status=1; }

for part in noun verb adj adv; do
    echo '  1 the licence' >"$work/index.$part"
    echo '  1 the licence' >"$work/data.$part"
done
cat >>"$work/index.noun" <<'END'
dog n 2 1 @ 2 1 00000200 00000300
hot_dog n 1 1 @ 1 0 00000300
animal n 1 2 ~ %p 1 0 00000100
tail n 1 1 #p 1 0 00000400
END
cat >>"$work/data.noun" <<'END'
00000100 05 n 01 animal 0 003 ~ 00000200 n 0000 %p 00000400 n 0000 = 00000600 a 0000 | moves
00000200 05 n 01 dog 0 002 @ 00000100 n 0000 + 00000500 v 0101 | barks
00000300 13 n 02 Hot_dog 0 dog 1 000 | is eaten
00000400 08 n 01 tail 0 001 #p 00000100 n 0000 | wags
END
echo 'dog v 1 1 + 1 0 00000500' >>"$work/index.verb"
echo '00000500 38 v 01 dog 0 002 + 00000200 n 0101 + 00000200 n 0102 01 + 08 00 | follow' \
    >>"$work/data.verb"
echo 'big a 1 1 = 1 0 00000600' >>"$work/index.adj"
echo '00000600 00 s 01 big(p) 0 001 = 00000100 n 0000 | large' >>"$work/data.adj"
echo 'bigly r 1 1 \ 1 0 00000700' >>"$work/index.adv"
echo '00000700 02 r 01 bigly 0 001 \ 00000600 a 0101 | largely' >>"$work/data.adv"
"$source/tools/graph-from-wordnet" -d "$work" -o "$work/graph" 2>"$work/log" || status=1
same 'synsets' <<'END'
animal.n.01 field noun.animal
animal.n.01 word animal
dog.n.01 field noun.animal
dog.n.01 word dog
dog.n.01 hypernym animal.n.01
dog.n.01 derivation dog.v.01
hot_dog.n.01 field noun.food
hot_dog.n.01 word Hotdog
hot_dog.n.01 word dog
tail.n.01 field noun.body
tail.n.01 word tail
tail.n.01 part_of animal.n.01
dog.v.01 field verb.motion
dog.v.01 word dog
dog.v.01 derivation dog.n.01
big.s.01 field adj.all
big.s.01 word big
big.s.01 attribute animal.n.01
bigly.r.01 field adv.all
bigly.r.01 word bigly
bigly.r.01 adverb_of big.s.01
END
[ "$(cat "$work/log")" = '7 synsets, 21 facts' ] || { echo 'FAILED: count of synsets'; status=1; }
exit $status
