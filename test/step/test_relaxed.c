// SPDX-License-Identifier: Apache-2.0
// Steps of the relaxed schemes: what they find, whatever the descent before has found.
#include "step/soft_stage.h"

#include "tribo/gallery.h"

// Boxes that land on each other open and close contacts with every step of Newton's method: the minimum is
// found all the same, and is as far from the contact law as its stiffness says, 10⁻⁴ of what a step of
// gravity adds to a velocity, for every body that a contact carries.
TEST(relaxed_minimum_is_found_in_a_heap)
{
  static const char* const schemes[] = {"primal", "vbd", "avbd"};
  for (int k = 0; k < 3; k++) {
    tbContext ctx = tb_default_context();
    const tbGalleryScene* heap = tb_gallery_find("heap");
    double values[TB_GALLERY_PARAMETERS];
    tbScene scene;
    tb_gallery_defaults(heap, values);
    CHECK_OK(&ctx, tb_gallery_set(&ctx, heap, values, "side=3"));
    CHECK_OK(&ctx, tb_gallery_load(&ctx, heap, values, NULL, &scene));
    scene.step.scheme = schemes[k];
    double worst = 0;
    for (int i = 0; i < 14; i++) {
      tbStepReport report;
      CHECK_OK(&ctx, tb_world_step(&ctx, scene.world, &scene.step, &report));
      worst = fmax(worst, report.residual.velocity);
    }
    CHECK_NEAR(worst, 0, 1e-3);
    tb_scene_free(&ctx, &scene);
  }
}
